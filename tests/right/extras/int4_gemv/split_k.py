"""Whole weights in 16 bits, interleaved again; k is shared out, and fp32 atomics add up the shares."""

import torch
import triton
import triton.language as tl


@triton.jit
def share_kernel(X, W, S, Z, ACC, M, N, K, G: tl.constexpr, BN: tl.constexpr, SPLITS: tl.constexpr):
    rows = tl.arange(0, 16)
    cols = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    acc = tl.zeros((16, BN), tl.float32)
    for group in range(tl.program_id(1), K // G, SPLITS):
        at = group * G + tl.arange(0, G)
        x = tl.load(X + rows[:, None] * K + at[None, :], (rows < M)[:, None], 0.0)
        half = group * (G // 2) + tl.arange(0, G // 2)
        w = tl.load(W + cols[:, None] * (K // 2) + half[None, :], (cols < N)[:, None], 0)
        w = tl.reshape(tl.join(w & 15, w >> 4), (BN, G)).to(x.dtype)
        s = tl.load(S + cols * (K // G) + group, cols < N, 0.0)
        z = tl.load(Z + cols * (K // G) + group, cols < N, 0).to(x.dtype)
        weights = (w - z[:, None]) * s[:, None]
        acc = tl.dot(x, tl.trans(weights), acc)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    tl.atomic_add(ACC + rows[:, None] * N + cols[None, :], acc, inside)


@triton.jit
def round_kernel(ACC, Y, COUNT, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(Y + i, tl.load(ACC + i, i < COUNT).to(Y.dtype.element_ty), i < COUNT)


def int4_gemv(x, packed, scales, zeros, group_size):
    (m, k), n = x.shape, packed.shape[0]
    acc = torch.zeros(m, n, dtype=torch.float32, device=x.device)
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n, 64), 4)
    share_kernel[grid](x, packed, scales, zeros, acc, m, n, k, G=group_size, BN=64, SPLITS=4)
    round_kernel[(triton.cdiv(m * n, 1024),)](acc, y, m * n, BLOCK=1024)
    return y

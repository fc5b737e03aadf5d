"""Heads on an axis of their own; scale and mask wait for the softmax, its division for the last kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def products(Q, K, S, heads, M, N, D, q0, q1, q2, q3, k0, k1, k2, k3, BD: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    cols = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    dims = tl.arange(0, BD)
    Q += head // heads * q0 + head % heads * q1
    K += head // heads * k0 + head % heads * k1
    q = tl.load(Q + rows.to(tl.int64) * q2 + dims[None, :] * q3, (rows < M) & (dims[None, :] < D), 0.0)
    k = tl.load(K + cols.to(tl.int64) * k2 + dims[:, None] * k3, (cols < N) & (dims[:, None] < D), 0.0)
    dots = tl.dot(q.to(tl.float32), k.to(tl.float32), input_precision="ieee")
    tl.store(S + (head * M + rows) * N + cols, dots, (rows < M) & (cols < N))


@triton.jit
def exponentials(S, L, scale, M, N, causal: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    seen = N
    if causal:
        seen = tl.minimum(tl.maximum(row % M + 1 + N - M, 0), N).to(tl.int32)
    lanes = tl.arange(0, BN)
    top = tl.full((BN,), -1e38, tl.float32)
    for start in range(0, N, BN):
        x = tl.load(S + row * N + start + lanes, start + lanes < seen, 0.0) * scale
        top = tl.maximum(top, tl.where(start + lanes < seen, x, -1e38), propagate_nan=tl.PropagateNan.ALL)
    highest = tl.max(top, axis=0)
    total = tl.zeros((BN,), tl.float32)
    for start in range(0, N, BN):
        x = tl.load(S + row * N + start + lanes, start + lanes < seen, 0.0) * scale
        e = tl.where(start + lanes < seen, tl.exp(x - highest), 0.0)
        tl.store(S + row * N + start + lanes, e, start + lanes < N)
        total += e
    tl.store(L + row, tl.sum(total, axis=0))


@triton.jit
def mix(
    S, L, V, out_ptr, heads, M, N, D, v0, v1, v2, v3, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, BD)[None, :]
    V += head // heads * v0 + head % heads * v1
    out = tl.zeros((BM, BD), tl.float32)
    for start in range(0, N, BN):
        keys = start + tl.arange(0, BN)
        e = tl.load(
            S + (head * M + rows[:, None]) * N + keys[None, :], (rows < M)[:, None] & (keys < N)[None, :], 0.0
        )
        v = tl.load(V + keys.to(tl.int64)[:, None] * v2 + dims * v3, (keys < N)[:, None] & (dims < D), 0.0)
        out += tl.dot(e, v.to(tl.float32), input_precision="ieee")
    total = tl.load(L + head * M + rows, rows < M, 1.0)
    out = tl.where((total > 0)[:, None] | (total != total)[:, None], out / total[:, None], 0.0)
    tl.store(out_ptr + (head * M + rows[:, None]) * D + dims, out, (rows < M)[:, None] & (dims < D))


def attention(q, k, v, scale, causal):
    (B, H, M, D), N = q.shape, k.shape[-2]
    out = torch.empty((B, H, M, D), device=q.device, dtype=q.dtype)
    if out.numel() == 0:
        return out
    s = torch.empty((B * H, M, N), device=q.device, dtype=torch.float32)
    total = torch.empty((B * H, M), device=q.device, dtype=torch.float32)
    BD = max(16, triton.next_power_of_2(D))
    products[triton.cdiv(M, 32), triton.cdiv(N, 32), B * H](
        q, k, s, H, M, N, D, *q.stride(), *k.stride(), BD=BD, B=32, num_warps=4
    )
    exponentials[(B * H * M,)](s, total, scale, M, N, causal=causal, BN=256)
    mix[triton.cdiv(M, 16), B * H](s, total, v, out, H, M, N, D, *v.stride(), BD=BD, BM=16, BN=32)
    return out

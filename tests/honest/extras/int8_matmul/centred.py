"""The sums of b's columns by a kernel of their own, tiles in plain order, and the scales joined first."""

import torch
import triton
import triton.language as tl


@triton.jit
def column_sums(B, S, K, N, b_k, b_n, ROWS: tl.constexpr, COLS: tl.constexpr):
    n = tl.program_id(0).to(tl.int64) * COLS + tl.arange(0, COLS)
    total = tl.zeros((ROWS, COLS), tl.int32)
    for start in range(0, K, ROWS):
        k = (start + tl.arange(0, ROWS)).to(tl.int64)
        at = k[:, None] * b_k + n[None, :] * b_n
        total += tl.load(B + at, mask=(k < K)[:, None] & (n < N)[None, :], other=0).to(tl.int32)
    tl.store(S + n, tl.sum(total, axis=0), mask=n < N)


@triton.jit
def product(
    A, B, C, SA, SB, Z, S, M, N, K, a_m, a_k, b_k, b_n,
    ZERO: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(N, TN)
    m = (tl.program_id(0) // across).to(tl.int64) * TM + tl.arange(0, TM)
    n = (tl.program_id(0) % across).to(tl.int64) * TN + tl.arange(0, TN)
    here = (m < M)[:, None] & (n < N)[None, :]
    total = tl.zeros((TM, TN), tl.int32)
    for start in range(0, K, TK):
        k = (start + tl.arange(0, TK)).to(tl.int64)
        left = tl.load(
            A + m[:, None] * a_m + k[None, :] * a_k, mask=(m < M)[:, None] & (k < K)[None, :], other=0
        )
        right = tl.load(
            B + k[:, None] * b_k + n[None, :] * b_n, mask=(k < K)[:, None] & (n < N)[None, :], other=0
        )
        total += tl.dot(left, right)
    if ZERO:
        z = tl.load(Z + m, mask=m < M, other=0)
        total -= z[:, None] * tl.load(S + n, mask=n < N, other=0)[None, :]
    scale = tl.load(SA + m, mask=m < M, other=0)[:, None] * tl.load(SB + n, mask=n < N, other=0)[None, :]
    tl.store(C + m[:, None] * N + n[None, :], total.to(tl.float32) * scale, mask=here)


def int8_matmul(a, b, a_scale, b_scale, a_zero):
    (M, K), N = a.shape, b.shape[1]
    c = a_scale.new_empty(M, N)
    sums = None
    if a_zero is not None:
        sums = torch.empty(N, dtype=torch.int32, device=a.device)
        column_sums[(triton.cdiv(N, 64),)](b, sums, K, N, *b.stride(), ROWS=64, COLS=64)
    product[(triton.cdiv(M, 128) * triton.cdiv(N, 128),)](
        a, b, c, a_scale, b_scale, a_zero, sums, M, N, K, *a.stride(), *b.stride(),
        ZERO=a_zero is not None, TM=128, TN=128, TK=128, num_warps=8, num_stages=3,
    )  # fmt: skip
    return c

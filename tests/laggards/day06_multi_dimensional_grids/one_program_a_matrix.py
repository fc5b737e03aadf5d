"""The batch is the whole grid: each program walks the tiles of its matrix, one after the other."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_matrix_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    M,
    N,
    stride_ab,
    stride_am,
    stride_an,
    stride_bb,
    stride_bm,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """out[pid_b] = a[pid_b] + b[pid_b], a whole matrix."""
    pid_b = tl.program_id(0).to(tl.int64)
    a_ptr += pid_b * stride_ab
    b_ptr += pid_b * stride_bb
    out_ptr += pid_b * M * N
    for start_m in range(0, M, BLOCK_M):
        offs_m = (start_m + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
        for start_n in range(0, N, BLOCK_N):
            offs_n = (start_n + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
            mask = (offs_m < M) & (offs_n < N)
            a = tl.load(a_ptr + offs_m * stride_am + offs_n * stride_an, mask=mask)
            b = tl.load(b_ptr + offs_m * stride_bm + offs_n * stride_bn, mask=mask)
            tl.store(out_ptr + offs_m * N + offs_n, a + b, mask=mask)


def add_batched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a + b, contiguous, for a[B, M, N] of any strides and any b that broadcasts to it."""
    B, M, N = a.shape
    b = b.expand(B, M, N)
    out = torch.empty(B, M, N, dtype=a.dtype, device=a.device)
    add_matrix_kernel[(B,)](a, b, out, M, N, *a.stride(), *b.stride(), BLOCK_M=16, BLOCK_N=64)
    return out

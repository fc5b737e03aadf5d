"""Day 06: a + b for batches of matrices in any layout, b broadcast by strides of 0."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_batched_kernel(
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
    """out[pid_b] = a[pid_b] + b[pid_b] for one tile; out is contiguous, a and b lie as their strides say."""
    # 64 bits: a batch of matrices easily has more than 2**31 elements, and products of offsets would wrap.
    pid_b = tl.program_id(0).to(tl.int64)
    pid_n = tl.program_id(1).to(tl.int64)
    pid_m = tl.program_id(2).to(tl.int64)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    # A stride of 1 is compiled in as a constant, so rows that lie together still travel 16 bytes a load.
    a_ptrs = a_ptr + pid_b * stride_ab + offs_m[:, None] * stride_am + offs_n[None, :] * stride_an
    a = tl.load(a_ptrs, mask=mask)
    # Where b is broadcast a stride is 0: programs that run together share its bytes, HBM sends them once.
    b_ptrs = b_ptr + pid_b * stride_bb + offs_m[:, None] * stride_bm + offs_n[None, :] * stride_bn
    b = tl.load(b_ptrs, mask=mask)
    out_ptrs = out_ptr + (pid_b * M + offs_m[:, None]) * N + offs_n[None, :]
    tl.store(out_ptrs, a + b, mask=mask)


def add_batched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a + b, contiguous, for a[B, M, N] of any strides and any b of its dtype broadcastable to it."""
    B, M, N = a.shape
    b = b.expand(B, M, N)
    out = torch.empty(B, M, N, dtype=a.dtype, device=a.device)
    # 2048 elements over 128 threads: four 16-byte loads of a and four of b in flight in each.
    BLOCK_M, BLOCK_N = 16, 128
    # The batch on axis 0: only that axis goes past 65535, and what runs fastest there reuses b's tile.
    grid = (B, triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M))
    add_batched_kernel[grid](a, b, out, M, N, *a.stride(), *b.stride(), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return out

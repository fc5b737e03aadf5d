"""Day 06, tuned: a + b for batches of matrices, by programs that run in the order of the result's bytes.

What it does beyond the plain solution, and what that buys:

- One axis of programs, numbered as the tiles of out lie in memory. With the batch on axis 0 the programs
  that run together are at work in as many matrices, whose rows lie a power of two apart and meet in the same
  channels of the memory; here they all read and write one stretch of it. That matrix of b which all share
  stays in L2 the other way as well.
"""

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
    """out = a + b for one tile of one matrix; out is contiguous, a and b lie as their strides say."""
    pid, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    # Divided in 32 bits, which hold any number of programs; offsets take 64.
    pid_b = (pid // tiles_n // tiles_m).to(tl.int64)
    offs_m = (pid // tiles_n % tiles_m).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    a_ptrs = a_ptr + pid_b * stride_ab + offs_m[:, None] * stride_am + offs_n[None, :] * stride_an
    a = tl.load(a_ptrs, mask=mask)
    # A shared matrix of b is read from HBM once: 4 MB of the 50 of an H200's L2 at 512 x 2048.
    b_ptrs = b_ptr + pid_b * stride_bb + offs_m[:, None] * stride_bm + offs_n[None, :] * stride_bn
    b = tl.load(b_ptrs, mask=mask)
    out_ptrs = out_ptr + (pid_b * M + offs_m[:, None]) * N + offs_n[None, :]
    tl.store(out_ptrs, a + b, mask=mask)


def add_batched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a + b, contiguous, for a[B, M, N] of any strides and any b of its dtype broadcastable to it."""
    B, M, N = a.shape
    b = b.expand(B, M, N)
    out = torch.empty(B, M, N, dtype=a.dtype, device=a.device)
    # 2048 elements that lie together as far as rows are that long: four 16-byte loads of a and of b a thread.
    BLOCK_N = min(triton.next_power_of_2(max(N, 1)), 2048)
    BLOCK_M = 2048 // BLOCK_N
    grid = (B * triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
    add_batched_kernel[grid](a, b, out, M, N, *a.stride(), *b.stride(), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return out

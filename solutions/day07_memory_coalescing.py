"""Day 07: the transpose of a matrix, whole sectors in and whole sectors out."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, y_ptr, m, n, stride_xm, stride_xn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[j, i] = x[i, j] for one tile of BLOCK_M rows and BLOCK_N columns of x."""
    # One axis for all tiles: a side of more than 65535 tiles fits no other.
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BLOCK_N)
    # 64 bits, as on day 06.
    offs_m = (pid // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < m) & (offs_n[None, :] < n)
    # Read by rows of x: in fp32, 16 lanes take 256 bytes side by side, 8 whole sectors.
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask)
    # Written by rows of y, 8 whole sectors again. In between, the tile changes hands in shared memory.
    y_ptrs = y_ptr + offs_n[:, None] * m + offs_m[None, :]
    tl.store(y_ptrs, tl.trans(x), mask=tl.trans(mask))


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return the transpose of x[m, n] as a new, contiguous [n, m]; x may have any strides."""
    m, n = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    # Long enough both ways for whole sectors; 16 KB of shared memory in fp32, so many programs fit on an SM.
    BLOCK_M, BLOCK_N = 64, 64
    grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)
    transpose_kernel[grid](x, y, m, n, x.stride(0), x.stride(1), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return y

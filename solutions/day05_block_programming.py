"""Day 05: out[i, j] = x[i] + y[j], two vectors read and a matrix written, tile by tile."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def outer_add_kernel(x_ptr, y_ptr, out_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """out[i, j] = x[i] + y[j]; a program owns one tile of BLOCK_M rows and BLOCK_N columns."""
    # Tiles are numbered as a page is read, so programs that run together write rows that lie together.
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(n, BLOCK_N)
    pid_m = pid // tiles_n
    pid_n = pid % tiles_n
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m < m
    mask_n = offs_n < n
    # BLOCK_M + BLOCK_N elements are read for BLOCK_M * BLOCK_N written: 160 for 4096.
    x = tl.load(x_ptr + offs_m, mask=mask_m)
    y = tl.load(y_ptr + offs_n, mask=mask_n)
    # 64 bits: the last rows of a 50000 x 50000 matrix start past element 2**31.
    out_ptrs = out_ptr + offs_m[:, None].to(tl.int64) * n + offs_n[None, :]
    tl.store(out_ptrs, x[:, None] + y[None, :], mask=mask_m[:, None] & mask_n[None, :])


def outer_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the matrix [m, n] of all sums x[i] + y[j], for contiguous x[m] and y[n] of the same dtype."""
    m, n = x.numel(), y.numel()
    out = torch.empty(m, n, dtype=x.dtype, device=x.device)
    # 4096 elements over 128 threads, 32 each. In fp32 a warp writes a row of the tile, 512 bytes, at once.
    BLOCK_M, BLOCK_N = 32, 128
    grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)
    outer_add_kernel[grid](x, y, out, m, n, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return out

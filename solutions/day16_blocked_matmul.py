"""Day 16: a matrix product whose inner dimension fits into one tile: one tl.dot for a tile of c."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    steps,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """c = a @ b, in tiles of BLOCK_M rows and BLOCK_N columns; BLOCK_K >= k."""
    # A program makes a strip: `steps` tiles side by side, which share their piece of a.
    strips = tl.cdiv(n, steps * BLOCK_N)
    # 64 bits: products of offsets and strides pass 2**31 for matrices of a few gigabytes.
    offs_m = (tl.program_id(0) // strips).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    first_n = (tl.program_id(0) % strips).to(tl.int64) * steps * BLOCK_N
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
    rows, inner = offs_m < m, offs_k < k
    # BLOCK_M * k elements of a for all tiles of the strip. Past k they are 0, as are b's: 0 * 0 adds nothing.
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
    # Three stages: while a tile is multiplied and written, the next two pieces of b are on their way.
    for step in tl.range(steps, num_stages=3):
        offs_n = first_n + step * BLOCK_N + tl.arange(0, BLOCK_N)
        cols = offs_n < n
        # k * BLOCK_N elements a tile.
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
        # 2 * BLOCK_M * BLOCK_N * k operations. fp16 and bf16 products are exact in the fp32 that they are
        # added up in; fp32 inputs would be cut to TF32's 11 bits, were it not for "ieee".
        acc = tl.dot(a, b, input_precision="ieee")
        # One write, BLOCK_M * BLOCK_N elements, rounded to c's dtype here and nowhere earlier.
        tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype, k <= 128."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # The matrix units take fp16 and bf16, and Triton uses them from Ampere on; fp32 goes product by product.
    matrix_units = a.dtype.itemsize == 2 and (
        not a.is_cuda or torch.cuda.get_device_capability(a.device)[0] >= 8
    )
    # 128 x 64 in fp32 would spill: every product goes through registers there.
    BLOCK_M, BLOCK_N = (128, 64) if matrix_units else (64, 64)
    BLOCK_K = max(triton.next_power_of_2(a.shape[1]), 16)
    tiles_m, tiles_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)
    # Strips as long as leave two programs for every SM, which is how many it has room for.
    programs = 2 * torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 2
    steps = max(triton.cdiv(tiles_n, max(programs // max(tiles_m, 1), 1)), 1)
    grid = (tiles_m * triton.cdiv(n, steps * BLOCK_N),)
    matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        a.shape[1],
        steps,
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=4 if matrix_units else 8,
    )
    return c

"""Day 17: a matrix product of any size: a tile of c stays on the chip while a and b pass by."""

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
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """One tile of c = a @ b, BLOCK_M rows high and BLOCK_N columns wide, for any k."""
    tiles_n = tl.cdiv(n, BLOCK_N)
    # 64 bits: products of offsets and strides pass 2**31 for matrices of a few gigabytes.
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    rows, cols = offs_m < m, offs_n < n
    # The first frame. Every later one lies the same step further on, so the loop adds and never multiplies.
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :].to(tl.int64) * stride_ak
    b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + offs_n[None, :] * stride_bn
    # The tile of c stays in registers, in fp32, from the first frame to the last.
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    # 64 bits: BLOCK_K rows of b are 2**31 elements where it has 2**25 columns.
    step = tl.cast(BLOCK_K, tl.int64)
    for left in range(k, 0, -BLOCK_K):
        # (BLOCK_M + BLOCK_N) * BLOCK_K elements a frame. In the last, lanes past k hold 0 on both sides.
        inner = offs_k < left
        a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    # The only write, and the only rounding to c's dtype.
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # The matrix units take fp16 and bf16, and Triton uses them from Ampere on; fp32 goes product by product.
    matrix_units = a.dtype.itemsize == 2 and (
        not a.is_cuda or torch.cuda.get_device_capability(a.device)[0] >= 8
    )
    # 128 x 256 sums are half of an SM's registers; a frame of 64 is 48 KB, and three of them are on the chip:
    # while one is multiplied, two are on their way. In fp32 a smaller tile keeps its products in registers,
    # and one larger than c multiplies zeros.
    large = matrix_units and m >= 128 and n >= 256
    BLOCK_M, BLOCK_N, BLOCK_K = (128, 256, 64) if large else (64, 64, 32)
    grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)
    matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        a.shape[1],
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=8,
        num_stages=3,
    )
    return c

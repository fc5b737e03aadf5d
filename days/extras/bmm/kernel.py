"""Extra: a product of each pair of matrices in two batches, all of them in one launch."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def bmm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    stride_ag,
    stride_am,
    stride_ak,
    stride_bg,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """One tile of one product, c[g] = a[g] @ b[g], BLOCK_M rows high and BLOCK_N columns wide."""
    # TODO 1: one program id counts the tiles of all matrices. Which matrix is this program's, and which tile?
    # TODO 2: where do the first BLOCK_K columns of its rows of a lie, and the rows of its columns of b?
    # TODO 3: go along k, BLOCK_K at a time, and add up in fp32. What do lanes past k have to hold?
    # TODO 4: write the tile, once. c is contiguous.


def tile_of(a: torch.Tensor, m: int, n: int) -> tuple[int, int, int]:
    """Return BLOCK_M, BLOCK_N and BLOCK_K for matrices of this size, and of a's dtype."""
    # The matrix units take fp16 and bf16, and Triton uses them from Ampere on; fp32 goes product by product.
    matrix_units = a.dtype.itemsize == 2 and (
        not a.is_cuda or torch.cuda.get_device_capability(a.device)[0] >= 8
    )
    # Attention heads and LoRA banks are small: no larger than they, since every lane beyond is wasted.
    most_m, most_n, BLOCK_K = (128, 256, 64) if matrix_units else (64, 64, 32)
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), most_m)
    BLOCK_N = min(max(triton.next_power_of_2(n), 16), most_n)
    return BLOCK_M, BLOCK_N, BLOCK_K


def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [g, m, n], for a[g, m, k] and b[g, k, n] of any strides and one dtype."""
    c = torch.empty(a.shape[0], a.shape[1], b.shape[2], dtype=a.dtype, device=a.device)
    # TODO 5: launch as many programs as all products have tiles of that shape; 8 warps where it is large.
    return c

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
    batch,
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
    """Tiles of c[g] = a[g] @ b[g], BLOCK_M high and BLOCK_N wide: every num_programs-th of them all."""
    # TODO 1: one count for the tiles of all matrices. Which are this program's? Of which matrix is each?
    # TODO 2: where do the first BLOCK_K columns of its rows of a lie, and the rows of its columns of b?
    # TODO 3: go along k, BLOCK_K at a time, and add up in fp32. What do lanes past k have to hold?
    # TODO 4: write the tile, once. c is contiguous.


def tile_of(a: torch.Tensor, m: int, n: int) -> tuple[int, int, int]:
    """Return BLOCK_M, BLOCK_N and BLOCK_K for matrices of this size, and of a's dtype."""
    major = torch.cuda.get_device_capability(a.device)[0] if a.is_cuda else 9
    # Attention heads and LoRA banks are small: no larger than they, since every lane beyond is wasted.
    if a.dtype.itemsize == 4 or major < 8:
        # fp32, and what Triton computes before Ampere, goes product by product through registers.
        most_m, most_n, BLOCK_K = (64, 64, 32)
    else:
        # The matrix units take more. Three pieces of 48 KB, and 32 to store from, fit on a Hopper SM.
        most_m, most_n, BLOCK_K = (128, 256 if major in (9, 10) else 128, 64)
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), most_m)
    BLOCK_N = min(max(triton.next_power_of_2(n), 16), most_n)
    return BLOCK_M, BLOCK_N, BLOCK_K


def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [g, m, n], for a[g, m, k] and b[g, k, n] of any strides and one dtype."""
    c = torch.empty(a.shape[0], a.shape[1], b.shape[2], dtype=a.dtype, device=a.device)
    # TODO 5: launch a program for each SM, or each tile if those are fewer; 8 warps where tiles are large.
    return c

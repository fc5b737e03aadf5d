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
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """c = a @ b, in tiles of BLOCK_M rows and BLOCK_N columns; BLOCK_K >= k."""
    # TODO 1: from the program's number, find its tile of c: which rows, which columns.
    # TODO 2: number the inner dimension too, and mark which rows, columns and inner elements exist.
    # TODO 3: read the pieces of a and b that this tile of c needs; what lies past k must add nothing.
    # TODO 4: multiply the two pieces, with every product and every sum at least as good as fp32.
    # TODO 5: write the tile of c, whose rows are n elements apart.


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype, k <= 128."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # TODO 6: choose BLOCK_M, BLOCK_N and the smallest BLOCK_K that tl.dot takes and that holds k.
    # TODO 7: launch one program a tile of c.
    return c

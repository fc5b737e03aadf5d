"""Day 07: the transpose of a matrix, whole sectors in and whole sectors out."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, y_ptr, m, n, stride_xm, stride_xn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[j, i] = x[i, j] for one tile of BLOCK_M rows and BLOCK_N columns of x."""
    # TODO 1: find the rows and columns of x that this program's tile covers.
    # TODO 2: mark which elements of the tile exist.
    # TODO 3: read the tile of x where x's strides put it.
    # TODO 4: write it, turned over, to its place in y, so that lanes side by side write side by side.


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return the transpose of x[m, n] as a new, contiguous [n, m]; x may have any strides."""
    m, n = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    # TODO 5: choose a tile that is long enough both ways, and launch one program a tile.
    return y

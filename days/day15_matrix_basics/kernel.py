"""Day 15: a matrix times a vector, wherever the strides have put the elements."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def matvec_kernel(
    a_ptr,
    x_ptr,
    y_ptr,
    m,
    n,
    stride_am,
    stride_an,
    stride_x,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """y[i] = sum over j of a[i, j] * x[j]; a program owns BLOCK_M rows and walks along them in tiles."""
    # TODO 1: number the rows of this program, and mark which of them exist.
    # TODO 2: make room for the sums, in fp32.
    # TODO 3: walk along the rows, BLOCK_N columns at a time, up to the last, partial tile.
    # TODO 4: read a tile of a and the part of x above it, each by its own strides; lanes outside add nothing.
    # TODO 5: multiply in fp32, and add to the sums.
    # TODO 6: bring the lanes of each row together, and write one number a row.


def matvec(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return a @ x as a new vector [m], for a[m, n] and x[n] of any strides."""
    m = a.shape[0]
    y = torch.empty(m, dtype=a.dtype, device=a.device)
    # TODO 7: choose the shape of the tile. Which way do a's elements lie side by side?
    # TODO 8: launch just enough programs to cover m rows.
    return y

"""Day 05: out[i, j] = x[i] + y[j], two vectors read and a matrix written, tile by tile."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def outer_add_kernel(x_ptr, y_ptr, out_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """out[i, j] = x[i] + y[j]; a program owns one tile of BLOCK_M rows and BLOCK_N columns."""
    # TODO 1: from the program's number, find the row of tiles and the column of tiles that its tile is in.
    # TODO 2: number the rows and the columns of the tile, and mark which of them exist.
    # TODO 3: read the part of x and the part of y that the tile needs.
    # TODO 4: write all sums of the two to the tile's place in out, whose rows are n elements apart.


def outer_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the matrix [m, n] of all sums x[i] + y[j], for contiguous x[m] and y[n] of the same dtype."""
    m, n = x.numel(), y.numel()
    out = torch.empty(m, n, dtype=x.dtype, device=x.device)
    # TODO 5: choose BLOCK_M and BLOCK_N, and launch one program a tile.
    return out

"""Day 11: mean, max and argmax of every row, from one read of the matrix."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def row_stats_kernel(
    x_ptr,
    mean_ptr,
    max_ptr,
    argmax_ptr,
    n_rows,
    n_cols,
    stride_xm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Mean, max and argmax of BLOCK_M rows; a program walks along them BLOCK_N columns at a time."""
    # TODO 1: find this program's rows, and start what is known of each: a sum, a maximum, and where it was.
    # TODO 2: for each block of columns, read the tile once, as fp32; what do lanes past the end hold?
    # TODO 3: bring the sums up to date. What do they need those lanes to hold?
    # TODO 4: bring the maxima and their columns up to date; of equal ones the first column stays.
    # TODO 5: write three numbers a row.


def row_stats(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return mean (fp32), max (x's dtype) and argmax (int64, the first on ties) of each row of x[m, n]."""
    mean = torch.empty(len(x), dtype=torch.float32, device=x.device)
    maximum = torch.empty(len(x), dtype=x.dtype, device=x.device)
    argmax = torch.empty(len(x), dtype=torch.int64, device=x.device)
    # TODO 6: choose BLOCK_M, BLOCK_N and num_warps for these columns, long rows and short ones, and launch.
    return mean, maximum, argmax

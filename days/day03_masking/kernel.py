"""Day 03: y[i] = x[i + k], and a fill value where x has no such element."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def shift_kernel(x_ptr, y_ptr, n, k, fill, BLOCK: tl.constexpr):
    """y[i] = x[i + k] where 0 <= i + k < n, else fill; one program, BLOCK >= n."""
    # TODO 1: number the lanes, and find which element of x each of them wants.
    # TODO 2: read those that exist; every other lane holds fill, and touches no memory.
    # TODO 3: write y, all of it and nothing beside it.


def shift(x: torch.Tensor, k: int, fill: float) -> torch.Tensor:
    """Return y[n] with y[i] = x[i + k] where that exists, else fill, for x[n] contiguous, n <= 65536."""
    y = torch.empty_like(x)
    # TODO 4: choose a block that holds n lanes, whatever n is, and launch one program.
    return y

"""Day 02: y[i] = x[start + i * step], read from wherever it lies in memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def gather_strided_kernel(x_ptr, y_ptr, start, step, stride_x, BLOCK: tl.constexpr):
    """y[i] = x[start + i * step] for i = 0 .. BLOCK-1; x[j] lies j * stride_x elements behind x_ptr."""
    # TODO 1: for each lane, find the number in x of the element that it wants.
    # TODO 2: read those elements from where they lie, counted from x_ptr.
    # TODO 3: write them to y, side by side.


def gather_strided(x: torch.Tensor, start: int, step: int, count: int) -> torch.Tensor:
    """Return x[start + i * step] for i = 0 .. count-1; x[n] has any stride, count is a power of two."""
    y = torch.empty(count, dtype=x.dtype, device=x.device)
    # TODO 4: launch one program with a block of count lanes, and tell it what a pointer does not know.
    return y

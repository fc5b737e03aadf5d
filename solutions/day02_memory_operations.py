"""Day 02: y[i] = x[start + i * step], read from wherever it lies in memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def gather_strided_kernel(x_ptr, y_ptr, start, step, stride_x, BLOCK: tl.constexpr):
    """y[i] = x[start + i * step] for i = 0 .. BLOCK-1; x[j] lies j * stride_x elements behind x_ptr."""
    offs = tl.arange(0, BLOCK)
    # A number in x is no place yet. step may be negative: the block then walks down from start.
    index = start + offs * step
    # start is scaled too, or a strided x is entered too early. In elements: x_ptr knows their size.
    x = tl.load(x_ptr + index * stride_x)
    # BLOCK elements read, BLOCK written. y is new, so its elements lie side by side whatever x's do.
    tl.store(y_ptr + offs, x)


def gather_strided(x: torch.Tensor, start: int, step: int, count: int) -> torch.Tensor:
    """Return x[start + i * step] for i = 0 .. count-1; x[n] has any stride, count is a power of two."""
    y = torch.empty(count, dtype=x.dtype, device=x.device)
    gather_strided_kernel[(1,)](x, y, start, step, x.stride(0), BLOCK=count)
    return y

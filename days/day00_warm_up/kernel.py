"""Day 00: a vector from its end to its beginning, by a single program."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def backwards_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """y[i] = x[BLOCK-1-i] for i = 0 .. BLOCK-1."""
    offs = tl.arange(0, BLOCK)
    # TODO: where in x each lane reads, so that the last element comes first.
    source = offs
    tl.store(y_ptr + offs, tl.load(x_ptr + source))


def backwards(x: torch.Tensor) -> torch.Tensor:
    """Return x in the opposite order as a new tensor, for x[n] with n a power of two up to 1024."""
    y = torch.empty_like(x)
    backwards_kernel[(1,)](x, y, BLOCK=x.numel())
    return y

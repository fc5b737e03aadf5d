"""Day 24: dropout, with a mask that any program can work out from the seed and an element's number."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, keep_ptr, n, p, scale, seed, BLOCK: tl.constexpr):
    """y[i] = scale * x[i] where element i is kept, else 0; program pid owns BLOCK elements."""
    # TODO 1: number the elements this program owns, and mark which of them exist.
    # TODO 2: draw a number in [0, 1) for each, from seed and the element's own number.
    # TODO 3: decide who is kept: nobody dropped at p = 0, nobody kept at p = 1.
    # TODO 4: read x, and write y: a scaled element or 0, in fp32 until the store.
    # TODO 5: write the mask.


def dropout(x: torch.Tensor, p: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return y, which is x / (1 - p) where kept and 0 elsewhere, and the mask of what was kept, bool.

    x is contiguous, of any shape; each element is dropped with probability p, by seed and its number alone.
    """
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    keep = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    # TODO 6: the scale, for every p from 0 to 1; BLOCK; the launch.
    return y, keep

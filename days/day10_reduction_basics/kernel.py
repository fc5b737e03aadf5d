"""Day 10: the sum of a vector, in stages: every launch leaves one number a block."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def sum_blocks_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    """partial[pid] = the sum of x[pid * BLOCK : (pid + 1) * BLOCK], in fp32."""
    # TODO 1: read this program's block; lanes past the end hold what no sum notices.
    # TODO 2: add it up, in fp32 whatever the dtype of x.
    # TODO 3: write the one number to this program's own place.


def total(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of x[n], contiguous, as a 0-d fp32 tensor."""
    # TODO 4: choose BLOCK, and allocate one partial sum for each block; of nothing the sum is 0.
    # TODO 5: launch a program a block.
    # TODO 6: the partial sums are a vector too. Go on until one number is left, and return it with shape ().

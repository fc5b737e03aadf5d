"""Day 08: the sum of two vectors, at the speed of memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, stride_x, stride_y, BLOCK: tl.constexpr):
    """out[i] = x[i] + y[i]; program p owns elements p * BLOCK .. p * BLOCK + BLOCK - 1."""
    # TODO 1: number the elements this program owns. There may be more than 2**31: count in 64 bits.
    # TODO 2: mark which of them exist; only the last block may run past n.
    # TODO 3: read x and y where their strides put them.
    # TODO 4: write the sums to out, whose elements lie side by side.


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x + y, contiguous, for two vectors x[n] and y[n] of any strides; fp16 + fp32 gives fp32."""
    n = x.numel()
    out = torch.empty(n, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    # TODO 5: choose BLOCK, and launch just enough programs to cover n elements.
    return out

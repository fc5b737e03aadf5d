"""Extra: (x + y) * z for tensors of any strides, in one pass over memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def fused_add_mul_kernel(
    x_ptr,
    y_ptr,
    z_ptr,
    out_ptr,
    n1,
    n2,
    n3,
    x0,
    x1,
    x2,
    x3,
    y0,
    y1,
    y2,
    y3,
    z0,
    z1,
    z2,
    z3,
    BLOCK: tl.constexpr,
):
    """BLOCK elements of one row of out = (x + y) * z; x0 to x3 are x's strides, n1 to n3 the last sizes."""
    # TODO 1: which piece of which row is this program's? A row has n3 elements.
    # TODO 2: from the row's number, find its place along each of the first three dimensions.
    # TODO 3: read x, y and z, each by its own four strides.
    # TODO 4: write (x + y) * z, rounded once. out is contiguous.


def in_four(t: torch.Tensor, flat: bool) -> torch.Tensor:
    """Return a view of t with four dimensions: one long row if flat, else sizes of 1 in front of t's own."""
    return t.view(1, 1, 1, -1) if flat else t[(None,) * (4 - t.ndim)]


def fused_add_mul(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Return (x + y) * z, contiguous, for one shape of up to four dimensions; any strides, one dtype."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    # Where all lie alike and without gaps, rows are short for nothing: they are one.
    flat = x.is_contiguous() and y.is_contiguous() and z.is_contiguous()
    x, y, z = in_four(x, flat), in_four(y, flat), in_four(z, flat)
    # TODO 5: choose BLOCK, and launch a program for each piece of each row; there may be no row at all.
    return out

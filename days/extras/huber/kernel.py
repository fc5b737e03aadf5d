"""Extra: Huber's loss and the mean absolute error, of any strides, both gradients in one pass."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def cost(d, delta, HUBER: tl.constexpr):
    """What a difference d costs, fp32: |d|, or Huber's parabola that goes on as a straight line."""
    # TODO 1: both losses; Huber's two parts meet at delta with one height and one slope.


@triton.jit
def slope(d, delta, HUBER: tl.constexpr):
    """The derivative of `cost`: NaN where d is, and 0 where d is 0, though |d| has none there."""
    # TODO 2: their derivatives. What is that of |d| at 0, and what is to come of NaN?


@triton.jit
def place(i, n1, n2, n3, stride_0, stride_1, stride_2, stride_3, FLAT: tl.constexpr):
    """Where element number i of a [n0, n1, n2, n3] lies, in elements behind its first; FLAT: contiguous."""
    # TODO 3: element i of a [n0, n1, n2, n3]: i if FLAT, else by remainders and strides, last side first.


@triton.jit
def loss_kernel(
    x_ptr,
    y_ptr,
    part_ptr,
    n,
    delta,
    n1,
    n2,
    n3,
    stride_x0,
    stride_x1,
    stride_x2,
    stride_x3,
    stride_y0,
    stride_y1,
    stride_y2,
    stride_y3,
    FLAT: tl.constexpr,
    HUBER: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Part pid: the sum of what BLOCK elements cost."""
    # TODO 4: this block's x and y, in fp32; the sum of what they cost, to a place of its own.


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, count, BLOCK: tl.constexpr):
    """The sum of all parts over the number of elements, by one program: 4 bytes for 2048 of them."""
    # TODO 5: add up all parts, and divide.


@triton.jit
def backward_kernel(
    dmean_ptr,
    x_ptr,
    y_ptr,
    dx_ptr,
    dy_ptr,
    n,
    delta,
    n1,
    n2,
    n3,
    stride_x0,
    stride_x1,
    stride_x2,
    stride_x3,
    stride_y0,
    stride_y1,
    stride_y2,
    stride_y3,
    FLAT: tl.constexpr,
    HUBER: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """dx and dy of BLOCK elements: one slope, and the other sign; dx_ptr or dy_ptr is None if not wanted."""
    # TODO 6: one slope for both gradients, the upstream gradient, and where each is stored.


def places(x: torch.Tensor, y: torch.Tensor) -> tuple[int, ...]:
    """Return the shape without its first side and both strides, as if x and y had four dimensions."""
    more = 4 - x.dim()
    shape = (1,) * more + tuple(x.shape)
    return *shape[1:], *(0,) * more, *x.stride(), *(0,) * more, *y.stride()


class Distance(torch.autograd.Function):
    """Tells autograd which kernels compute a mean distance, and its gradients."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, delta: float, huber: bool) -> torch.Tensor:
        n = x.numel()
        n_parts = triton.cdiv(n, 2048)
        part = torch.empty(n_parts, dtype=torch.float32, device=x.device)
        mean = torch.empty((), dtype=torch.float32, device=x.device)
        ctx.how = {"FLAT": x.is_contiguous() and y.is_contiguous(), "HUBER": huber, "BLOCK": 2048}
        loss_kernel[(n_parts,)](x, y, part, n, delta, *places(x, y), **ctx.how, num_warps=4)
        mean_kernel[(1,)](part, mean, n_parts, n, BLOCK=16384, num_warps=32)
        ctx.save_for_backward(x, y)
        ctx.delta = delta
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dmean: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, y = ctx.saved_tensors
        n = x.numel()
        # Of an expanded input, too, every element has a gradient of its own: torch adds them up behind us.
        dx, dy = (
            torch.empty(x.shape, dtype=x.dtype, device=x.device) if wanted else None
            for wanted in ctx.needs_input_grad[:2]
        )
        backward_kernel[(triton.cdiv(n, 2048),)](
            dmean, x, y, dx, dy, n, ctx.delta, *places(x, y), **ctx.how, num_warps=4
        )
        return dx, dy, None, None


def huber(x: torch.Tensor, y: torch.Tensor, delta: float) -> torch.Tensor:
    """Return the mean of Huber's loss of x - y, fp32 []; x and y of one shape, up to four dimensions."""
    return Distance.apply(x, y, delta, True)


def mae(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the mean of |x - y|, fp32 []; x and y of one shape, up to four dimensions."""
    return Distance.apply(x, y, 0.0, False)

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
    far = tl.abs(d)
    if HUBER:
        # 0.5 d**2 up to delta; from there on a line of the same height and slope.
        far = tl.where(far <= delta, 0.5 * d * d, delta * (far - 0.5 * delta))
    return far


@triton.jit
def slope(d, delta, HUBER: tl.constexpr):
    """The derivative of `cost`: NaN where d is, and 0 where d is 0, though |d| has none there."""
    if HUBER:
        by_d = tl.where(d > delta, delta, tl.where(d < -delta, -delta, d))
    else:
        by_d = tl.where(d > 0, 1.0, tl.where(d < 0, -1.0, d))
    return by_d


@triton.jit
def place(i, n1, n2, n3, stride_0, stride_1, stride_2, stride_3, FLAT: tl.constexpr):
    """Where element number i of a [n0, n1, n2, n3] lies, in elements behind its first; FLAT: contiguous."""
    if FLAT:
        offset = i
    else:
        # Three 64-bit divisions an element, some hundred instructions: only where nothing simpler will do.
        row = i // n3
        matrix = row // n2
        offset = i % n3 * stride_3 + row % n2 * stride_2 + matrix % n1 * stride_1 + matrix // n1 * stride_0
    return offset


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
    # 64 bits: n may pass 2**31.
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    at_x = place(offs, n1, n2, n3, stride_x0, stride_x1, stride_x2, stride_x3, FLAT)
    at_y = place(offs, n1, n2, n3, stride_y0, stride_y1, stride_y2, stride_y3, FLAT)
    # 8 bytes an element of fp32. To fp32 before anything else: in fp16 a square of 256 is infinite already.
    x = tl.load(x_ptr + at_x, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + at_y, mask=mask, other=0.0).to(tl.float32)
    # Lanes that are not there hold 0 and 0, which cost nothing.
    tl.store(part_ptr + tl.program_id(0), tl.sum(cost(x - y, delta, HUBER), axis=0))


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, count, BLOCK: tl.constexpr):
    """The sum of all parts over the number of elements, by one program: 4 bytes for 2048 of them."""
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_parts, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(part_ptr + offs, mask=offs < n_parts, other=0.0)
    # 0 / 0 is NaN, as torch has it for the mean of nothing.
    tl.store(mean_ptr, tl.sum(acc, axis=0) / count)


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
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    at_x = place(offs, n1, n2, n3, stride_x0, stride_x1, stride_x2, stride_x3, FLAT)
    at_y = place(offs, n1, n2, n3, stride_y0, stride_y1, stride_y2, stride_y3, FLAT)
    # 8 bytes in and 8 out.
    x = tl.load(x_ptr + at_x, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + at_y, mask=mask, other=0.0).to(tl.float32)
    # On the device: the host never waits for the upstream gradient.
    dx = slope(x - y, delta, HUBER) * (tl.load(dmean_ptr) / n)
    if dx_ptr is not None:
        tl.store(dx_ptr + offs, dx, mask=mask)
    if dy_ptr is not None:
        tl.store(dy_ptr + offs, -dx, mask=mask)


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

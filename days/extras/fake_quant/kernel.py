"""Extra: fake quantisation, rounded as integers would be, and a gradient that is passed through."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def level(x, scale, zero_point):
    """The integer, as fp32, that stands for x before it is clamped; NaN of NaN."""
    # TODO 1: round the quotient, halves to the even integer; when is the zero point added?


@triton.jit
def forward_kernel(
    x_ptr, scale_ptr, zero_point_ptr, y_ptr, n_cols, blocks, qmin, qmax, BLOCK_N: tl.constexpr
):
    """y = (clamp(level) - zero_point) * scale, for one block of one row."""
    # TODO 2: find this program's row and its block of columns; read the row's two numbers.
    # TODO 3: clamp the level, and store what the integer stands for. NaN stays NaN.


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    scale_ptr,
    zero_point_ptr,
    dx_ptr,
    n_cols,
    blocks,
    stride_dym,
    stride_dyn,
    qmin,
    qmax,
    BLOCK_N: tl.constexpr,
):
    """dx = dy where the level lies within [qmin, qmax], else 0, for one block of one row."""
    # TODO 4: the same block once more. Nobody promises how dy lies: use both of its strides.
    # TODO 5: pass dy on where nothing was clamped.


def blocks_of(n_rows: int, n_cols: int, elements: int) -> tuple[tuple[int], dict[str, int]]:
    """Return the grid, and how many blocks of how many columns each row is cut into."""
    BLOCK_N = min(triton.next_power_of_2(n_cols), elements)
    blocks = triton.cdiv(n_cols, BLOCK_N)
    return (n_rows * blocks,), {"blocks": blocks, "BLOCK_N": BLOCK_N}


class FakeQuantize(torch.autograd.Function):
    """Tells autograd which kernels fake a quantisation, and what is called its gradient."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, qmin: int, qmax: int
    ) -> torch.Tensor:
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        grid, shape = blocks_of(*x.shape, elements=4096)
        forward_kernel[grid](
            x, scale, zero_point, y, x.shape[1], qmin=float(qmin), qmax=float(qmax), **shape, num_warps=4
        )
        ctx.save_for_backward(x, scale, zero_point)
        ctx.range = float(qmin), float(qmax)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, scale, zero_point = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        grid, shape = blocks_of(*x.shape, elements=4096)
        qmin, qmax = ctx.range
        backward_kernel[grid](
            dy,
            x,
            scale,
            zero_point,
            dx,
            x.shape[1],
            stride_dym=dy.stride(0),
            stride_dyn=dy.stride(1),
            qmin=qmin,
            qmax=qmax,
            **shape,
            num_warps=4,
        )
        return dx, None, None, None, None


def fake_quantize(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, qmin: int, qmax: int
) -> torch.Tensor:
    """Return x[c, n] as integers in [qmin, qmax] would hold it: a scale and a zero point for each row.

    Differentiable in x: the gradient passes where nothing was clamped, as if nothing had been rounded.
    """
    return FakeQuantize.apply(x, scale, zero_point, qmin, qmax)

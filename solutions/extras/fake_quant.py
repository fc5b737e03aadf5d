"""Extra: fake quantisation, rounded as integers would be, and a gradient that is passed through."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable
from triton.language.extra import libdevice


@triton.jit
def level(x, scale, zero_point):
    """The integer, as fp32, that stands for x before it is clamped; NaN of NaN."""
    # Halves go to the even integer, and the zero point comes after: beside an odd one the other is even.
    return libdevice.rint(x / scale) + zero_point


@triton.jit
def forward_kernel(
    x_ptr, scale_ptr, zero_point_ptr, y_ptr, n_cols, blocks, qmin, qmax, BLOCK_N: tl.constexpr
):
    """y = (clamp(level) - zero_point) * scale, for one block of one row."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = (tl.program_id(0) // blocks).to(tl.int64)
    cols = tl.program_id(0) % blocks * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    # Two numbers a row, and 2 bytes an element of bf16 each way.
    scale = tl.load(scale_ptr + row)
    zero_point = tl.load(zero_point_ptr + row).to(tl.float32)
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    q = level(x, scale, zero_point)
    # By comparisons, of which NaN passes none: a minimum of NaN and qmax is qmax.
    q = tl.where(q < qmin, qmin, tl.where(q > qmax, qmax, q))
    tl.store(y_ptr + row * n_cols + cols, (q - zero_point) * scale, mask=mask)


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
    row = (tl.program_id(0) // blocks).to(tl.int64)
    # 64 bits here too: the columns of a transposed dy lie a whole column of rows apart.
    cols = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    scale = tl.load(scale_ptr + row)
    zero_point = tl.load(zero_point_ptr + row).to(tl.float32)
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride_dym + cols * stride_dyn, mask=mask, other=0.0)
    # Computed again from x: a kept mask would be a byte more an element to write and to read.
    q = level(x, scale, zero_point)
    tl.store(dx_ptr + row * n_cols + cols, tl.where((q >= qmin) & (q <= qmax), dy, 0.0), mask=mask)


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

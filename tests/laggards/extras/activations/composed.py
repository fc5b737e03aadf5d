"""Activations and gradients in two kernels each, which meet in memory, in fp32."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def value(x, KIND: tl.constexpr):
    """The activation KIND of x: fp32, of any size."""
    # A sigmoid has one exponential, in the denominator: where it is Inf the quotient is 0, and right.
    if KIND == "tanh":
        # Near 0 the 1 would swallow x's digits: there the first terms of the series, 2e-7 off at 1/8.
        series = x * (1 - x * x * (0.33333333 - 0.13333333 * x * x))
        y = tl.where(tl.abs(x) < 0.125, series, 2 * tl.sigmoid(2 * x) - 1)
    elif KIND == "silu":
        y = x * tl.sigmoid(x)
    elif KIND == "gelu":
        # 0.5 (1 + tanh z) is sigmoid(2z), with 2z = x (1.5957691 + 0.0713548 x**2).
        y = x * tl.sigmoid(x * (1.5957691 + 0.07135481 * x * x))
    else:
        y = tl.sigmoid(x)
    return y


@triton.jit
def slope(kept, KIND: tl.constexpr):
    """The derivative of the activation KIND, fp32, from what `to_keep` keeps of it."""
    if KIND == "tanh":
        # Two factors, since kept * kept would round where the difference is small.
        by_x = (1 - kept) * (1 + kept)
    elif KIND == "silu":
        p = tl.sigmoid(kept)
        by_x = p + kept * p * (1 - p)
    elif KIND == "gelu":
        p = tl.sigmoid(kept * (1.5957691 + 0.07135481 * kept * kept))
        by_x = p + kept * p * (1 - p) * (1.5957691 + 0.21406444 * kept * kept)
    else:
        by_x = kept * (1 - kept)
    return by_x


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
def forward_kernel(
    x_ptr,
    y_ptr,
    n,
    n1,
    n2,
    n3,
    stride_x0,
    stride_x1,
    stride_x2,
    stride_x3,
    FLAT: tl.constexpr,
    KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Reads n, writes n in fp32."""
    # 64 bits: a 32-bit product wraps at element 2**31.
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # 4 bytes an element of bf16, 2 in and 2 out.
    at = place(offs, n1, n2, n3, stride_x0, stride_x1, stride_x2, stride_x3, FLAT)
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + offs, value(x, KIND), mask=mask)


@triton.jit
def round_kernel(wide_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Reads n in fp32, writes n."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(wide_ptr + offs, mask=offs < n), mask=offs < n)


@triton.jit
def slope_kernel(kept_ptr, by_x_ptr, n, n1, n2, n3, s0, s1, s2, s3, FLAT: tl.constexpr, KIND: tl.constexpr,
                 BLOCK: tl.constexpr):  # fmt: skip
    """Reads n, writes n in fp32."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = place(offs, n1, n2, n3, s0, s1, s2, s3, FLAT)
    kept = tl.load(kept_ptr + at, mask=offs < n, other=0.0).to(tl.float32)
    tl.store(by_x_ptr + offs, slope(kept, KIND), mask=offs < n)


@triton.jit
def multiply_kernel(dy_ptr, by_x_ptr, dx_ptr, n, n1, n2, n3, s0, s1, s2, s3, FLAT: tl.constexpr,
                    BLOCK: tl.constexpr):  # fmt: skip
    """Reads n and n in fp32, writes n."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    dy = tl.load(dy_ptr + place(offs, n1, n2, n3, s0, s1, s2, s3, FLAT), mask=offs < n).to(tl.float32)
    tl.store(dx_ptr + offs, dy * tl.load(by_x_ptr + offs, mask=offs < n), mask=offs < n)


def in_four(x: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of x without its first side, and its strides, as if x had four dimensions."""
    more = 4 - x.dim()
    shape = (1,) * more + tuple(x.shape)
    return shape[1:], (0,) * more + x.stride()


def to_keep(kind: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the one tensor that the backward pass of this activation gets to see: x or y."""
    keep = x
    if kind in ("sigmoid", "tanh"):
        # Their slope is a product of y's: no exponential, and mostly y is kept by what follows anyway.
        keep = y
    return keep


class Activation(torch.autograd.Function):
    """Tells autograd which kernels compute an activation, and its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, kind: str) -> torch.Tensor:
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        shape, strides = in_four(x)
        wide = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        grid = (triton.cdiv(n, 2048),)
        forward_kernel[grid](x, wide, n, *shape, *strides, FLAT=x.is_contiguous(), KIND=kind, BLOCK=2048)
        round_kernel[grid](wide, y, n, BLOCK=2048)
        ctx.save_for_backward(to_keep(kind, x, y))
        ctx.kind = kind
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (kept,) = ctx.saved_tensors
        dx = torch.empty(kept.shape, dtype=kept.dtype, device=kept.device)
        n = kept.numel()
        by_x = torch.empty(kept.shape, dtype=torch.float32, device=kept.device)
        grid = (triton.cdiv(n, 2048),)
        shape, strides = in_four(kept)
        slope_kernel[grid](
            kept, by_x, n, *shape, *strides, FLAT=kept.is_contiguous(), KIND=ctx.kind, BLOCK=2048
        )
        shape, strides = in_four(dy)
        multiply_kernel[grid](dy, by_x, dx, n, *shape, *strides, FLAT=dy.is_contiguous(), BLOCK=2048)
        return dx, None


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """Return 1 / (1 + e**-x) for x of up to four dimensions and any strides."""
    return Activation.apply(x, "sigmoid")


def tanh(x: torch.Tensor) -> torch.Tensor:
    """Return tanh(x) for x of up to four dimensions and any strides."""
    return Activation.apply(x, "tanh")


def silu(x: torch.Tensor) -> torch.Tensor:
    """Return x * sigmoid(x) for x of up to four dimensions and any strides."""
    return Activation.apply(x, "silu")


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Return GELU(x) in its tanh form, for x of up to four dimensions and any strides."""
    return Activation.apply(x, "gelu")

"""Extra: sigmoid, tanh, SiLU and GELU, forward and backward, each element read once and written once."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def value(x, KIND: tl.constexpr):
    """The activation KIND of x: fp32, of any size."""
    # TODO 1: the four of them, with a sigmoid for a building block. Which one loses digits near 0?


@triton.jit
def slope(kept, KIND: tl.constexpr):
    """The derivative of the activation KIND, fp32, from what `to_keep` keeps of it."""
    # TODO 2: the four slopes. Is it x that is kept, or y? You say so in TODO 5.


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
    """y[i] = value(x[i]) for BLOCK of the n elements, counted along the last dimension first."""
    # TODO 3: number this program's elements, read each of x from its place, and write y.


@triton.jit
def backward_kernel(
    dy_ptr,
    kept_ptr,
    dx_ptr,
    n,
    n1,
    n2,
    n3,
    stride_dy0,
    stride_dy1,
    stride_dy2,
    stride_dy3,
    stride_k0,
    stride_k1,
    stride_k2,
    stride_k3,
    FLAT: tl.constexpr,
    KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """dx[i] = dy[i] * slope(kept[i]); FLAT says that both are contiguous, as dx is."""
    # TODO 4: read dy and what was kept, each by strides of its own, and write dx.


def in_four(x: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of x without its first side, and its strides, as if x had four dimensions."""
    more = 4 - x.dim()
    shape = (1,) * more + tuple(x.shape)
    return shape[1:], (0,) * more + x.stride()


def to_keep(kind: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the one tensor that the backward pass of this activation gets to see: x or y."""
    keep = x
    # TODO 5: of which activations does y tell the slope, and with less work than x?
    return keep


class Activation(torch.autograd.Function):
    """Tells autograd which kernels compute an activation, and its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, kind: str) -> torch.Tensor:
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        shape, strides = in_four(x)
        # 32 elements a thread at 4 warps: four 16-byte loads of bf16 in flight.
        forward_kernel[(triton.cdiv(n, 4096),)](
            x, y, n, *shape, *strides, FLAT=x.is_contiguous(), KIND=kind, BLOCK=4096, num_warps=4
        )
        ctx.save_for_backward(to_keep(kind, x, y))
        ctx.kind = kind
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (kept,) = ctx.saved_tensors
        dx = torch.empty(kept.shape, dtype=kept.dtype, device=kept.device)
        n = kept.numel()
        shape, strides = in_four(dy)
        # Half as many elements, since two inputs share the registers.
        backward_kernel[(triton.cdiv(n, 2048),)](
            dy,
            kept,
            dx,
            n,
            *shape,
            *strides,
            *in_four(kept)[1],
            FLAT=dy.is_contiguous() and kept.is_contiguous(),
            KIND=ctx.kind,
            BLOCK=2048,
            num_warps=4,
        )
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

"""Extra: x + alpha * y as an operator of torch's: out of place with gradients, and in place."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def scaled_add_kernel(x_ptr, y_ptr, out_ptr, alpha, stride_x, stride_y, stride_out, n, BLOCK: tl.constexpr):
    """out[i] = x[i] + alpha * y[i]; out may be x itself."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # Two reads and a write, 12 bytes an element of fp32. The sum is in fp32, and rounded in the store.
    x = tl.load(x_ptr + offs * stride_x, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offs * stride_y, mask=mask).to(tl.float32)
    tl.store(out_ptr + offs * stride_out, x + alpha * y, mask=mask)


@triton.jit
def scale_kernel(x_ptr, out_ptr, alpha, stride_x, n, BLOCK: tl.constexpr):
    """out[i] = alpha * x[i]; out is contiguous."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs * stride_x, mask=mask).to(tl.float32)
    tl.store(out_ptr + offs, alpha * x, mask=mask)


def launch(kernel: Any, n: int, *arguments: Any) -> None:
    """Launch a kernel over n elements; n is its last argument before BLOCK."""
    # Wrapped, a launch is an operator, too: torch can note it down, and run nothing.
    torch.library.wrap_triton(kernel)[(triton.cdiv(n, BLOCK),)](*arguments, n, BLOCK=BLOCK)


@torch.library.triton_op("track::scaled_add", mutates_args=())
def scaled_add(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    """Return x + alpha * y as a new, contiguous tensor [n]; x and y of any strides."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    strides = x.stride(0), y.stride(0), out.stride(0)
    launch(scaled_add_kernel, x.numel(), x, y, out, alpha, *strides)
    return out


@torch.library.triton_op("track::scaled_add_", mutates_args=("x",))
def scaled_add_(x: torch.Tensor, y: torch.Tensor, alpha: float) -> None:
    """Add alpha * y to x, in place; x and y [n], of any strides."""
    strides = x.stride(0), y.stride(0), x.stride(0)
    launch(scaled_add_kernel, x.numel(), x, y, x, alpha, *strides)


@torch.library.triton_op("track::scaled", mutates_args=())
def scaled(x: torch.Tensor, alpha: float) -> torch.Tensor:
    """Return alpha * x as a new, contiguous tensor [n]; x of any strides."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch(scale_kernel, x.numel(), x, out, alpha, x.stride(0))
    return out


def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    """Keep what the backward pass of scaled_add needs, of what it was called with and what it returned."""
    # A number: of x and y themselves no gradient knows anything.
    ctx.alpha = inputs[2]


def backward(ctx: Any, dout: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """Return the gradients of x, y and alpha, None where nobody asks for one; dout has any strides."""
    dx = dy = None
    # x's is dout as it is, and moves no byte.
    if ctx.needs_input_grad[0]:
        dx = dout
    if ctx.needs_input_grad[1]:
        dy = scaled(dout, ctx.alpha)
    return dx, dy, None


scaled_add.register_autograd(backward, setup_context=setup_context)

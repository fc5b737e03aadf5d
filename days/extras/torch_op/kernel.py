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
    # TODO 1: launch it in such a way that torch, while it traces, notes the launch down and runs nothing.


# TODO 2: register this function as track::scaled_add. Which of its arguments does it change?
def scaled_add(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    """Return x + alpha * y as a new, contiguous tensor [n]; x and y of any strides."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    strides = x.stride(0), y.stride(0), out.stride(0)
    launch(scaled_add_kernel, x.numel(), x, y, out, alpha, *strides)
    return out


# TODO 3: and this one as track::scaled_add_. Which of its arguments does it change?
def scaled_add_(x: torch.Tensor, y: torch.Tensor, alpha: float) -> None:
    """Add alpha * y to x, in place; x and y [n], of any strides."""
    # TODO 4: launch the same kernel; where does its result go?


# TODO 5: the backward pass calls this one. Make it an operator too, so that a profile has its name.
def scaled(x: torch.Tensor, alpha: float) -> torch.Tensor:
    """Return alpha * x as a new, contiguous tensor [n]; x of any strides."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch(scale_kernel, x.numel(), x, out, alpha, x.stride(0))
    return out


def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    """Keep what the backward pass of scaled_add needs, of what it was called with and what it returned."""
    # TODO 6: keep it, as an attribute of ctx.


def backward(ctx: Any, dout: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """Return the gradients of x, y and alpha, None where nobody asks for one; dout has any strides."""
    dx = dy = None
    # TODO 7: dx and dy, each where ctx.needs_input_grad says that it is asked for.
    return dx, dy, None


# TODO 8: tell torch that these two functions are the backward pass of scaled_add.

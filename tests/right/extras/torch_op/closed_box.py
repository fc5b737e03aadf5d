"""Closed boxes: custom operators, whose shapes functions beside them tell; one for the backward pass, too."""

import torch
import triton
import triton.language as tl


@triton.jit
def combined(X, Y, OUT, a, b, N, step_x, step_y, step_out, SIZE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    y = tl.load(Y + i * step_y, mask=i < N).to(tl.float32) * b
    if X is not None:
        y += tl.load(X + i * step_x, mask=i < N).to(tl.float32) * a
    tl.store(OUT + i * step_out, y.to(OUT.dtype.element_ty), mask=i < N)


def run(x, y, out, b):
    if out.numel():
        grid = (triton.cdiv(out.numel(), 2048),)
        first = 0 if x is None else x.stride(0)
        combined[grid](
            x, y, out, 1.0, b, out.numel(), first, y.stride(0), out.stride(0), SIZE=2048, num_warps=8
        )
    return out


@torch.library.custom_op("track::scaled_add", mutates_args=(), device_types=None)
def scaled_add(x: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    return run(x, y, torch.empty(x.shape, dtype=x.dtype, device=x.device), alpha)


@scaled_add.register_fake
def _(x, y, alpha):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


@torch.library.custom_op("track::times", mutates_args=())
def times(y: torch.Tensor, alpha: float) -> torch.Tensor:
    return run(None, y, torch.empty(y.shape, dtype=y.dtype, device=y.device), alpha)


@times.register_fake
def _(y, alpha):
    return torch.empty(y.shape, dtype=y.dtype, device=y.device)


def setup(ctx, inputs, output):
    _, _, ctx.alpha = inputs


def grads(ctx, grad):
    return grad, times(grad, ctx.alpha), None


torch.library.register_autograd("track::scaled_add", grads, setup_context=setup)


@torch.library.custom_op("track::scaled_add_", mutates_args={"x"})
def scaled_add_(x: torch.Tensor, y: torch.Tensor, alpha: float) -> None:
    run(x, y, x, alpha)

"""Activations: one kernel with a constexpr dispatch, jitted helpers, libdevice.tanh, int32, x saved."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def sigmoid_fn(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def apply_act_func(x, act_func: tl.constexpr):
    if act_func == "sigmoid":
        out = sigmoid_fn(x)
    elif act_func == "tanh":
        out = libdevice.tanh(x)
    elif act_func == "silu":
        out = x * sigmoid_fn(x)
    else:
        out = 0.5 * x * (1 + libdevice.tanh(0.7978845608 * x * (1 + 0.044715 * x * x)))
    return out


@triton.jit
def apply_act_func_grad(x, act_func: tl.constexpr):
    if act_func == "sigmoid":
        s = sigmoid_fn(x)
        grad = s * (1 - s)
    elif act_func == "tanh":
        t = libdevice.tanh(x)
        grad = 1 - t * t
    elif act_func == "silu":
        s = sigmoid_fn(x)
        grad = s * (1 + x * (1 - s))
    else:
        t = libdevice.tanh(0.7978845608 * x * (1 + 0.044715 * x * x))
        grad = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608 * (1 + 0.134145 * x * x)
    return grad


@triton.jit
def locate(i, D1, D2, D3, s0, s1, s2, s3, CONTIGUOUS: tl.constexpr):
    if CONTIGUOUS:
        return i
    else:
        i3 = i % D3
        i2 = (i // D3) % D2
        i1 = (i // (D3 * D2)) % D1
        i0 = i // (D3 * D2 * D1)
        return i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3


@triton.jit
def act_func_forward_kernel(
    x_ptr,
    y_ptr,
    size,
    D1,
    D2,
    D3,
    s0,
    s1,
    s2,
    s3,
    act_func: tl.constexpr,
    CONTIGUOUS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    offset = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offset < size
    src = locate(offset, D1, D2, D3, s0, s1, s2, s3, CONTIGUOUS)
    x = tl.load(x_ptr + src, mask=mask).to(tl.float32)
    tl.store(y_ptr + offset, apply_act_func(x, act_func), mask=mask)


@triton.jit
def act_func_backward_kernel(
    dy_ptr,
    x_ptr,
    dx_ptr,
    size,
    D1,
    D2,
    D3,
    g0,
    g1,
    g2,
    g3,
    s0,
    s1,
    s2,
    s3,
    act_func: tl.constexpr,
    CONTIGUOUS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    offset = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offset < size
    dy = tl.load(dy_ptr + locate(offset, D1, D2, D3, g0, g1, g2, g3, CONTIGUOUS), mask=mask).to(tl.float32)
    x = tl.load(x_ptr + locate(offset, D1, D2, D3, s0, s1, s2, s3, CONTIGUOUS), mask=mask).to(tl.float32)
    tl.store(dx_ptr + offset, dy * apply_act_func_grad(x, act_func), mask=mask)


def as_4d(t):
    return t[(None,) * (4 - t.dim())] if t.dim() < 4 else t


class ActFunc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, act_func):
        ctx.save_for_backward(x)
        ctx.act_func = act_func
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        size = x.numel()
        x4 = as_4d(x)
        grid = lambda META: (triton.cdiv(size, META["BLOCK_SIZE"]),)  # noqa: E731
        act_func_forward_kernel[grid](
            x, y, size, *x4.shape[1:], *x4.stride(), act_func, x.is_contiguous(), BLOCK_SIZE=2048, num_warps=4
        )
        return y

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        size = x.numel()
        x4 = as_4d(x)
        contiguous = x.is_contiguous() and dy.is_contiguous()
        grid = lambda META: (triton.cdiv(size, META["BLOCK_SIZE"]),)  # noqa: E731
        act_func_backward_kernel[grid](
            dy,
            x,
            dx,
            size,
            *x4.shape[1:],
            *as_4d(dy).stride(),
            *x4.stride(),
            ctx.act_func,
            contiguous,
            BLOCK_SIZE=2048,
            num_warps=4,
        )
        return dx, None


def sigmoid(x):
    return ActFunc.apply(x, "sigmoid")


def tanh(x):
    return ActFunc.apply(x, "tanh")


def silu(x):
    return ActFunc.apply(x, "silu")


def gelu(x):
    return ActFunc.apply(x, "gelu")

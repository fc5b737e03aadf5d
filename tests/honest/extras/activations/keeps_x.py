"""A kernel for each direction, x kept for all four; indices peeled off dimension by dimension."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def offset_of(i, sizes_1, sizes_2, sizes_3, a, b, c, d):
    at = (i % sizes_3) * d
    i = i // sizes_3
    at += (i % sizes_2) * c
    i = i // sizes_2
    return at + (i % sizes_1) * b + (i // sizes_1) * a


@triton.jit
def sig(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def two(x, NAME: tl.constexpr):
    """The function and its slope."""
    if NAME == "sigmoid":
        s = sig(x)
        return s, s * sig(-x)
    elif NAME == "tanh":
        t = libdevice.tanh(x)
        e = tl.exp(-2 * tl.abs(x))
        return t, 4 * e / ((1 + e) * (1 + e))
    elif NAME == "silu":
        s = sig(x)
        return x * s, s * (1 + x * (1 - s))
    else:
        z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        s = sig(2 * z)
        inner = 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)
        return x * s, s + 2 * x * s * (1 - s) * inner


@triton.jit
def fwd(X, Y, N, s1, s2, s3, a, b, c, d, PLAIN: tl.constexpr, NAME: tl.constexpr, SIZE: tl.constexpr):
    for first in range(tl.program_id(0).to(tl.int64) * SIZE, N, tl.num_programs(0) * SIZE):
        i = first + tl.arange(0, SIZE)
        at = i if PLAIN else offset_of(i, s1, s2, s3, a, b, c, d)
        y, _ = two(tl.load(X + at, i < N, 0).to(tl.float32), NAME)
        tl.store(Y + i, y.to(Y.dtype.element_ty), i < N)


@triton.jit
def bwd(
    D, X, G, N, s1, s2, s3, a, b, c, d, e, f, g, h, DY_PLAIN: tl.constexpr, X_PLAIN: tl.constexpr,
    NAME: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    for first in range(tl.program_id(0).to(tl.int64) * SIZE, N, tl.num_programs(0) * SIZE):
        i = first + tl.arange(0, SIZE)
        dy = tl.load(D + (i if DY_PLAIN else offset_of(i, s1, s2, s3, a, b, c, d)), i < N, 0)
        x = tl.load(X + (i if X_PLAIN else offset_of(i, s1, s2, s3, e, f, g, h)), i < N, 0)
        _, by_x = two(x.to(tl.float32), NAME)
        tl.store(G + i, (dy.to(tl.float32) * by_x).to(G.dtype.element_ty), i < N)


def padded(numbers, by):
    return (by,) * (4 - len(numbers)) + tuple(numbers)


def programs(n):
    return (min(triton.cdiv(n, 2048), 8192),)


class Pointwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name):
        ctx.save_for_backward(x)
        ctx.name = name
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if x.numel():
            fwd[programs(x.numel())](
                x, y, x.numel(), *padded(x.shape, 1)[1:], *padded(x.stride(), 0), PLAIN=x.is_contiguous(),
                NAME=name, SIZE=2048,
            )  # fmt: skip
        return y

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if x.numel():
            bwd[programs(x.numel())](
                dy, x, dx, x.numel(), *padded(x.shape, 1)[1:], *padded(dy.stride(), 0),
                *padded(x.stride(), 0), DY_PLAIN=dy.is_contiguous(), X_PLAIN=x.is_contiguous(),
                NAME=ctx.name, SIZE=2048,
            )  # fmt: skip
        return dx, None


def sigmoid(x):
    return Pointwise.apply(x, "sigmoid")


def tanh(x):
    return Pointwise.apply(x, "tanh")


def silu(x):
    return Pointwise.apply(x, "silu")


def gelu(x):
    return Pointwise.apply(x, "gelu")

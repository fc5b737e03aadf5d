"""One kernel for all four, forward and backward; the kind is an enum's number; a conditional expression."""

from enum import IntEnum

import torch
import triton
import triton.language as tl


class A(IntEnum):
    SIGMOID = 0
    TANH = 1
    SILU = 2
    GELU = 3


@triton.jit
def both(x, K: tl.constexpr):
    if K == 0:
        s = tl.sigmoid(x)
        return s, s * tl.sigmoid(-x)
    elif K == 1:
        t = 2 * tl.sigmoid(2 * x) - 1
        e = tl.exp(-2 * tl.abs(x))
        small = tl.abs(x) < 0.02
        t = tl.where(small, x - x * x * x / 3, t)
        return t, 4 * e / ((1 + e) * (1 + e))
    elif K == 2:
        s = tl.sigmoid(x)
        return x * s, s * (1 + x * tl.sigmoid(-x))
    else:
        z = 1.5957691216057308 * (x + 0.044715 * x * x * x)
        s = tl.sigmoid(z)
        dz = 1.5957691216057308 * (1 + 0.134145 * x * x)
        return x * s, s + x * s * tl.sigmoid(-z) * dz


@triton.jit
def at(i, n1, n2, n3, s0, s1, s2, s3):
    a = i // n3
    b = a // n2
    return (b // n1) * s0 + (b % n1) * s1 + (a % n2) * s2 + (i % n3) * s3


@triton.jit
def k(
    x,
    dy,
    o,
    n,
    n1,
    n2,
    n3,
    x0,
    x1,
    x2,
    x3,
    y0,
    y1,
    y2,
    y3,
    K: tl.constexpr,
    BWD: tl.constexpr,
    FLAT: tl.constexpr,
    B: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < n
    v, s = both(tl.load(x + (i if FLAT else at(i, n1, n2, n3, x0, x1, x2, x3)), m, 0.0).to(tl.float32), K)
    if BWD:
        v = s * tl.load(dy + (i if FLAT else at(i, n1, n2, n3, y0, y1, y2, y3)), m, 0.0).to(tl.float32)
    tl.store(o + i, v.to(o.dtype.element_ty), m)


def go(x, dy, kind):
    o = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    pad = 4 - x.dim()
    g = x if dy is None else dy
    if x.numel():
        k[(triton.cdiv(x.numel(), 1024),)](
            x,
            g,
            o,
            x.numel(),
            *([1] * pad + list(x.shape))[1:],
            *([0] * pad + list(x.stride())),
            *([0] * pad + list(g.stride())),
            K=int(kind),
            BWD=dy is not None,
            FLAT=x.is_contiguous() and g.is_contiguous(),
            B=1024,
        )
    return o


class Act(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kind):
        ctx.save_for_backward(x)
        ctx.kind = kind
        return go(x, None, kind)

    @staticmethod
    def backward(ctx, dy):
        return go(ctx.saved_tensors[0], dy, ctx.kind), None


def sigmoid(x):
    return Act.apply(x, A.SIGMOID)


def tanh(x):
    return Act.apply(x, A.TANH)


def silu(x):
    return Act.apply(x, A.SILU)


def gelu(x):
    return Act.apply(x, A.GELU)

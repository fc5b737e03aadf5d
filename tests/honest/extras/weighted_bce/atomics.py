"""Flat blocks, the column by a remainder; log1p by libdevice; the mean by atomics, divided beforehand."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def forward(X, T, W, P, OUT, N, COLS, HAS_W: tl.constexpr, HAS_P: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + i, i < N, 0).to(tl.float32)
    t = tl.load(T + i, i < N, 0).to(tl.float32)
    tail = libdevice.log1p(tl.exp(-tl.abs(x)))
    p = 1.0
    if HAS_P:
        p = tl.load(P + i % COLS, i < N, 0).to(tl.float32)
    # What is above 0 belongs to one of the two, and the rest to both.
    sides = tl.where(x > 0, (1 - t) * x, t * p * -x)
    loss = sides + ((1 - t) + t * p) * tail
    if HAS_W:
        loss *= tl.load(W + i, i < N, 0).to(tl.float32)
    tl.atomic_add(OUT, tl.sum(tl.where(i < N, loss, 0.0), axis=0) / N)


@triton.jit
def nothing(OUT):
    tl.store(OUT, float("nan"))


@triton.jit
def backward(D, X, T, W, P, DX, N, COLS, HAS_W: tl.constexpr, HAS_P: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + i, i < N, 0).to(tl.float32)
    t = tl.load(T + i, i < N, 0).to(tl.float32)
    e = tl.exp(-tl.abs(x))
    near, far = e / (1 + e), 1 / (1 + e)
    yes = t * tl.where(x > 0, near, far)
    if HAS_P:
        yes *= tl.load(P + i % COLS, i < N, 0).to(tl.float32)
    g = (1 - t) * tl.where(x > 0, far, near) - yes
    if HAS_W:
        g *= tl.load(W + i, i < N, 0).to(tl.float32)
    tl.store(DX + i, (g * tl.load(D) / N).to(DX.dtype.element_ty), i < N)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t, w, p):
        ctx.save_for_backward(x, t, w, p)
        out = torch.zeros((), dtype=torch.float32, device=x.device)
        n = x.numel()
        if n:
            forward[(triton.cdiv(n, 1024),)](
                x, t, w, p, out, n, x.shape[1], w is not None, p is not None, BLOCK=1024
            )
        else:
            nothing[(1,)](out)
        return out

    @staticmethod
    def backward(ctx, d):
        x, t, w, p = ctx.saved_tensors
        dx = torch.empty_like(x)
        n = x.numel()
        if n:
            backward[(triton.cdiv(n, 1024),)](
                d, x, t, w, p, dx, n, x.shape[1], w is not None, p is not None, BLOCK=1024
            )
        return dx, None, None, None


weighted_bce = Loss.apply

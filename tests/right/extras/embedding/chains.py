"""The tokens of an id hang together in a chain, and a program a row walks along it, without atomics."""

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def gather(W, IDS, Y, D, sw, BS: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    v = tl.load(IDS + t)
    for c in range(0, D, BS):
        j = c + tl.arange(0, BS)
        tl.store(Y + t * D + j, tl.load(W + v * sw + j, mask=j < D), mask=j < D)


@triton.jit
def owner(IDS, LAST, NEXT, T):
    t = tl.program_id(0).to(tl.int64)
    v = tl.load(IDS + t)
    old = tl.atomic_xchg(LAST + v, t.to(tl.int32))
    tl.store(NEXT + t, old)


@triton.jit
def pull(DY, LAST, NEXT, DW, D, pad, n1, n2, s0, s1, s2, s3, BS: tl.constexpr):
    v = tl.program_id(0).to(tl.int64)
    c = (tl.program_id(1) * BS + tl.arange(0, BS)).to(tl.int64)
    acc = tl.zeros((BS,), tl.float32)
    t = tl.load(LAST + v)
    if v != pad:
        while t >= 0:
            tt = t.to(tl.int64)
            at = tt % n2 * s2 + tt // n2 % n1 * s1 + tt // (n1 * n2) * s0
            acc += tl.load(DY + at + c * s3, mask=c < D, other=0.0).to(tl.float32)
            t = tl.load(NEXT + t)
    tl.store(DW + v * D + c, acc.to(DW.dtype.element_ty), mask=c < D)


class E(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, ids, pad):
        V, D = w.shape
        y = torch.empty((*ids.shape, D), dtype=w.dtype, device=w.device)
        n = ids.numel()
        gather[(n,)](w, ids, y, D, w.stride(0), BS=min(1024, triton.next_power_of_2(D)))
        ctx.save_for_backward(ids)
        ctx.a = V, pad
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        (ids,) = ctx.saved_tensors
        V, pad = ctx.a
        D = dy.shape[-1]
        n = ids.numel()
        last = torch.full((V,), -1, dtype=torch.int32, device=dy.device)
        nxt = torch.empty(n, dtype=torch.int32, device=dy.device)
        owner[(n,)](ids, last, nxt, n)
        dw = torch.empty(V, D, dtype=dy.dtype, device=dy.device)
        BS = min(1024, triton.next_power_of_2(D))
        st = (0,) * (4 - dy.dim()) + dy.stride()
        sh = (1,) * (4 - dy.dim()) + tuple(dy.shape)
        pull[(V, triton.cdiv(D, BS))](dy, last, nxt, dw, D, pad, sh[1], sh[2], *st, BS=BS)
        return dw, None, None


def embedding(weight, ids, padding_idx):
    return E.apply(weight, ids, padding_idx)

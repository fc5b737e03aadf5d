"""Both logsumexps in one walk, the divergence in another; they are kept for the backward pass."""

import torch
import triton
import triton.language as tl


@triton.jit
def upd(m, z, v, ok):
    n = tl.maximum(m, tl.max(v, 0))
    ref = tl.where(n == float("-inf"), 0.0, n)
    e = tl.where(ok, tl.exp(v - ref), 0.0)
    return n, z * tl.exp(m - ref) + tl.sum(e, 0)


@triton.jit
def rows(s, t, loss, sl, tlse, V, ss, ts, inv, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    ms = float("-inf")
    zs = 0.0
    mt = float("-inf")
    zt = 0.0
    for c0 in range(0, V, B):
        c = c0 + tl.arange(0, B)
        ok = c < V
        ms, zs = upd(ms, zs, tl.load(s + r * ss + c, ok, float("-inf")).to(tl.float32) * inv, ok)
        mt, zt = upd(mt, zt, tl.load(t + r * ts + c, ok, float("-inf")).to(tl.float32) * inv, ok)
    ls = ms + tl.log(zs)
    lt = mt + tl.log(zt)
    acc = tl.zeros((B,), tl.float32)
    for c0 in range(0, V, B):
        c = c0 + tl.arange(0, B)
        ok = c < V
        a = tl.load(s + r * ss + c, ok, 0.0).to(tl.float32) * inv - ls
        b = tl.load(t + r * ts + c, ok, float("-inf")).to(tl.float32) * inv - lt
        p = tl.exp(b)
        acc += tl.where(p == 0.0, 0.0, p * (b - a))
    tl.store(loss + r, tl.sum(acc, 0))
    tl.store(sl + r, ls)
    tl.store(tlse + r, lt)


@triton.jit
def mean(loss, o, n, f, B: tl.constexpr):
    acc = tl.zeros((B,), tl.float32)
    for k in range(0, n, B):
        i = k + tl.arange(0, B)
        acc += tl.load(loss + i, i < n, 0.0)
    tl.store(o, tl.sum(acc, 0) / n * f)


@triton.jit
def bw(s, t, sl, tlse, do, dx, V, ss, ts, inv, f, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * B + tl.arange(0, B)
    ok = c < V
    a = tl.exp(tl.load(s + r * ss + c, ok, 0.0).to(tl.float32) * inv - tl.load(sl + r))
    b = tl.exp(tl.load(t + r * ts + c, ok, 0.0).to(tl.float32) * inv - tl.load(tlse + r))
    tl.store(dx + r * V + c, ((a - b) * f * tl.load(do)).to(dx.dtype.element_ty), ok)


class KL(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s, t, T):
        n, V = s.shape
        o = torch.empty((), dtype=torch.float32, device=s.device)
        loss, sl, tlse = torch.empty(3, n, dtype=torch.float32, device=s.device)
        if n:
            rows[(n,)](
                s,
                t,
                loss,
                sl,
                tlse,
                V,
                s.stride(0),
                t.stride(0),
                1.0 / T,
                B=min(4096, triton.next_power_of_2(V)),
                num_warps=8,
            )
        mean[(1,)](loss, o, n, T * T, B=1024)
        ctx.save_for_backward(s, t, sl, tlse)
        ctx.T = T
        return o

    @staticmethod
    def backward(ctx, do):
        s, t, sl, tlse = ctx.saved_tensors
        n, V = s.shape
        dx = torch.empty((n, V), dtype=s.dtype, device=s.device)
        if n:
            bw[(n, triton.cdiv(V, 2048))](
                s,
                t,
                sl,
                tlse,
                do,
                dx,
                V,
                s.stride(0),
                t.stride(0),
                1.0 / ctx.T,
                ctx.T / n,
                B=2048,
                num_warps=8,
            )
        return dx, None, None


def distill_kl(student, teacher, temperature):
    return KL.apply(student, teacher, float(temperature))

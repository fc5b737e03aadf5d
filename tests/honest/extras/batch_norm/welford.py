"""Welford's update in each lane, lanes joined by a reduction; whoever needs a channel joins its parts."""

import torch
import triton
import triton.language as tl


@triton.jit
def joined(n_a, mean_a, m_a, n_b, mean_b, m_b):
    n = n_a + n_b
    of_b = n_b / tl.where(n == 0, 1.0, n)
    d = mean_b - mean_a
    return n, mean_a + d * of_b, m_a + m_b + d * d * n_a * of_b


@triton.jit
def measure(X, N, MEAN, M, B, C, P, PARTS: tl.constexpr, SIZE: tl.constexpr):
    part, c = tl.program_id(0), tl.program_id(1).to(tl.int64)
    n = tl.zeros((SIZE,), tl.float32)
    mean = tl.zeros((SIZE,), tl.float32)
    m = tl.zeros((SIZE,), tl.float32)
    for start in range(part * SIZE, B * P, PARTS * SIZE):
        i = start + tl.arange(0, SIZE)
        ok = i < B * P
        x = tl.load(X + ((i // P).to(tl.int64) * C + c) * P + i % P, mask=ok, other=0.0).to(tl.float32)
        n += ok.to(tl.float32)
        d = tl.where(ok, x - mean, 0.0)
        mean += d / tl.where(n == 0, 1.0, n)
        m += d * (x - mean)
    n, mean, m = tl.reduce((n, mean, m), 0, joined)
    tl.store(N + c * PARTS + part, n)
    tl.store(MEAN + c * PARTS + part, mean)
    tl.store(M + c * PARTS + part, m)


@triton.jit
def channel(N, MEAN, M, c, PARTS: tl.constexpr):
    at = c * PARTS + tl.arange(0, PARTS)
    return tl.reduce((tl.load(N + at), tl.load(MEAN + at), tl.load(M + at)), 0, joined)


@triton.jit
def scale(
    X, W, BIAS, Y, N, MEAN, M, KEPT, RM, RV, C, P, momentum, eps, PARTS: tl.constexpr, SIZE: tl.constexpr
):  # fmt: skip
    plane = tl.program_id(0).to(tl.int64)
    c = plane % C
    n, mean, m = channel(N, MEAN, M, c, PARTS)
    rstd = tl.rsqrt(m / n + eps)
    w, b = tl.load(W + c).to(tl.float32) * rstd, tl.load(BIAS + c).to(tl.float32)
    for start in range(0, P, SIZE):
        p = start + tl.arange(0, SIZE)
        x = tl.load(X + plane * P + p, mask=p < P).to(tl.float32)
        tl.store(Y + plane * P + p, (x - mean) * w + b, mask=p < P)
    if plane < C:
        tl.store(KEPT + c, mean)
        tl.store(KEPT + C + c, rstd)
        tl.store(RM + c, tl.load(RM + c) * (1 - momentum) + mean * momentum)
        tl.store(RV + c, tl.load(RV + c) * (1 - momentum) + m / (n - 1) * momentum)


@triton.jit
def add(D, X, KEPT, S, B, C, P, width, sb, sc, sh, sw, PARTS: tl.constexpr, SIZE: tl.constexpr):
    part, c = tl.program_id(0), tl.program_id(1).to(tl.int64)
    mean, rstd = tl.load(KEPT + c), tl.load(KEPT + C + c)
    s = tl.zeros((SIZE,), tl.float32)
    q = tl.zeros((SIZE,), tl.float32)
    for start in range(part * SIZE, B * P, PARTS * SIZE):
        i = start + tl.arange(0, SIZE)
        b, p = (i // P).to(tl.int64), i % P
        x = tl.load(X + (b * C + c) * P + p, mask=i < B * P, other=0.0).to(tl.float32)
        at = b * sb + c * sc + (p // width).to(tl.int64) * sh + (p % width).to(tl.int64) * sw
        d = tl.load(D + at, mask=i < B * P, other=0.0).to(tl.float32)
        s += d
        q += d * (x - mean)
    tl.store(S + c * PARTS + part, tl.sum(s, axis=0))
    tl.store(S + (C + c) * PARTS + part, tl.sum(q, axis=0) * rstd)


@triton.jit
def back(
    D, X, W, KEPT, S, DX, DW, DB, B, C, P, width, sb, sc, sh, sw, PARTS: tl.constexpr, SIZE: tl.constexpr
):  # fmt: skip
    plane = tl.program_id(0).to(tl.int64)
    b, c = plane // C, plane % C
    mean, rstd = tl.load(KEPT + c), tl.load(KEPT + C + c)
    s = tl.sum(tl.load(S + c * PARTS + tl.arange(0, PARTS)), axis=0)
    q = tl.sum(tl.load(S + (C + c) * PARTS + tl.arange(0, PARTS)), axis=0)
    w = tl.load(W + c).to(tl.float32) * rstd
    for start in range(0, P, SIZE):
        p = start + tl.arange(0, SIZE)
        x_hat = (tl.load(X + plane * P + p, mask=p < P).to(tl.float32) - mean) * rstd
        at = b * sb + c * sc + (p // width).to(tl.int64) * sh + (p % width).to(tl.int64) * sw
        d = tl.load(D + at, mask=p < P).to(tl.float32)
        tl.store(DX + plane * P + p, w * (d - (s + x_hat * q) / (B * P)), mask=p < P)
    if plane < C:
        tl.store(DB + c, s)
        tl.store(DW + c, q)


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, bias, rm, rv, momentum, eps):
        b, c, h, width = x.shape
        p = h * width
        how = {"PARTS": 32, "SIZE": min(triton.next_power_of_2(p), 1024)}
        parts = [torch.empty(c, 32, dtype=torch.float32, device=x.device) for _ in range(3)]
        kept = torch.empty(2, c, dtype=torch.float32, device=x.device)
        y = torch.empty_like(x)
        measure[(32, c)](x, *parts, b, c, p, **how)
        scale[(b * c,)](x, w, bias, y, *parts, kept, rm, rv, c, p, momentum, eps, **how)
        ctx.save_for_backward(x, w, kept)
        return y

    @staticmethod
    def backward(ctx, d):
        x, w, kept = ctx.saved_tensors
        b, c, h, width = x.shape
        p = h * width
        how = {"PARTS": 32, "SIZE": min(triton.next_power_of_2(p), 1024)}
        s = torch.empty(2, c, 32, dtype=torch.float32, device=x.device)
        dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
        add[(32, c)](d, x, kept, s, b, c, p, width, *d.stride(), **how)
        back[(b * c,)](d, x, w, kept, s, dx, dw, db, b, c, p, width, *d.stride(), **how)
        return dx, dw, db, None, None, None, None


batch_norm = Norm.apply

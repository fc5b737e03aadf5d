"""Nothing is kept but the inputs: backward finds advantage and count again, a program an answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def score(r_ptr, row, size, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    group = row // size
    r = tl.load(r_ptr + group * size + lane, mask=lane < size, other=0.0)
    own = tl.load(r_ptr + row)
    # Distances from the own reward: what is equal is 0 from the start.
    away = tl.where(lane < size, r - own, 0.0)
    mean = tl.sum(away, axis=0) / size
    spread = tl.where(lane < size, away - mean, 0.0)
    return -mean / (tl.sqrt(tl.sum(spread * spread, axis=0) / (size - 1.0)) + 1e-4)


@triton.jit
def counted(m_ptr, row, s, SIZE: tl.constexpr):
    total = tl.zeros((SIZE,), tl.float32)
    for first in range(0, s, SIZE):
        i = first + tl.arange(0, SIZE)
        total += tl.load(m_ptr + row * s + i, mask=i < s, other=0).to(tl.float32)
    return tl.sum(total, axis=0)


@triton.jit
def bounded(ratio, a, eps):
    most = tl.where(a > 0, 1 + eps, float("inf"))
    least = tl.where(a < 0, 1 - eps, -float("inf"))
    return tl.where(ratio > most, most, tl.where(ratio < least, least, ratio))


@triton.jit
def losses(
    p_ptr, o_ptr, f_ptr, r_ptr, m_ptr, l_ptr, s, size, eps, beta, LANES: tl.constexpr, SIZE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    a = score(r_ptr, row, size, LANES)
    total = tl.zeros((SIZE,), tl.float32)
    for first in range(0, s, SIZE):
        i = row * s + first + tl.arange(0, SIZE)
        used = tl.load(m_ptr + i, mask=first + tl.arange(0, SIZE) < s, other=0) > 0
        p = tl.load(p_ptr + i, mask=used, other=0.0)
        step = tl.load(f_ptr + i, mask=used, other=0.0) - p
        ratio = bounded(tl.exp(p - tl.load(o_ptr + i, mask=used, other=0.0)), a, eps)
        total += tl.where(used, beta * (tl.exp(step) - 1 - step) - a * ratio, 0.0)
    count = counted(m_ptr, row, s, SIZE)
    tl.store(l_ptr + row, tl.where(count > 0, tl.sum(total, axis=0) / count, 0.0))


@triton.jit
def average(l_ptr, out_ptr, b, SIZE: tl.constexpr):
    total = 0.0
    for first in range(0, b, SIZE):
        i = first + tl.arange(0, SIZE)
        total += tl.sum(tl.load(l_ptr + i, mask=i < b, other=0.0), axis=0)
    tl.store(out_ptr, total / b)


@triton.jit
def pulls(
    d_ptr, p_ptr, o_ptr, f_ptr, r_ptr, m_ptr, g_ptr, b, s, size, eps, beta, LANES: tl.constexpr,
    SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    a = score(r_ptr, row, size, LANES)
    by = tl.load(d_ptr) / (b * tl.maximum(counted(m_ptr, row, s, SIZE), 1.0))
    for first in range(0, s, SIZE):
        i = row * s + first + tl.arange(0, SIZE)
        there = first + tl.arange(0, SIZE) < s
        used = tl.load(m_ptr + i, mask=there, other=0) > 0
        p = tl.load(p_ptr + i, mask=used, other=0.0)
        ratio = tl.exp(p - tl.load(o_ptr + i, mask=used, other=0.0))
        free = bounded(ratio, a, eps) != ratio
        pull = tl.where(free & (ratio == ratio), 0.0, a * ratio)
        step = tl.exp(tl.load(f_ptr + i, mask=used, other=0.0) - p)
        tl.store(g_ptr + i, tl.where(used, by * (beta - beta * step - pull), 0.0), mask=there)


class Policy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, o, f, rewards, mask, eps, beta):
        b, s = p.shape
        size = rewards.shape[1]
        each = p.new_empty(b)
        out = p.new_empty(())
        ctx.how = {"LANES": triton.next_power_of_2(size), "SIZE": 1024}
        losses[(b,)](p, o, f, rewards, mask, each, s, size, eps, beta, **ctx.how)
        average[(1,)](each, out, b, SIZE=2048)
        ctx.save_for_backward(p, o, f, rewards, mask)
        ctx.rest = b, s, size, eps, beta
        return out

    @staticmethod
    def backward(ctx, d):
        p, o, f, rewards, mask = ctx.saved_tensors
        g = torch.empty_like(p)
        pulls[(len(p),)](d, p, o, f, rewards, mask, g, *ctx.rest, **ctx.how)
        return g, None, None, None, None, None, None


grpo_loss = Policy.apply

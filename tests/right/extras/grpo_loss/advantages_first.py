"""Advantages by a kernel of their own, a program a group; min of both gains; the mean by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def groups(R, A, G, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    start = tl.program_id(0).to(tl.int64) * G
    r = tl.load(R + start + i, i < G, 0.0)
    base = tl.load(R + start)
    r -= base
    mean = tl.sum(tl.where(i < G, r, 0.0), axis=0) / G
    square = tl.where(i < G, (r - mean) * (r - mean), 0.0)
    tl.store(A + start + i, (r - mean) / (tl.sqrt(tl.sum(square, axis=0) / (G - 1)) + 1e-4), i < G)


@triton.jit
def answers(P, Q, R, M, A, N, OUT, B, S, eps, beta, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    a = tl.load(A + row)
    total = 0.0
    number = 0.0
    for start in range(0, S, BLOCK):
        c = start + tl.arange(0, BLOCK)
        m = tl.load(M + row * S + c, c < S, 0).to(tl.int32) == 1
        p = tl.where(m, tl.load(P + row * S + c, c < S, 0.0), 0.0)
        q = tl.exp(p - tl.where(m, tl.load(Q + row * S + c, c < S, 0.0), 0.0))
        d = tl.where(m, tl.load(R + row * S + c, c < S, 0.0), 0.0) - p
        held = tl.where(q > 1 + eps, 1 + eps, tl.where(q < 1 - eps, 1 - eps, q))
        gain = tl.where(q * a < held * a, q * a, held * a)
        loss = beta * ((tl.exp(d) - 1) - d) - gain
        total += tl.sum(tl.where(m, loss, 0.0), axis=0)
        number += tl.sum(m.to(tl.float32), axis=0)
    tl.store(N + row, number)
    if number > 0:
        tl.atomic_add(OUT, total / number / B)


@triton.jit
def nothing(OUT):
    tl.store(OUT, float("nan"))


@triton.jit
def slopes(D, P, Q, R, M, A, N, G, B, S, eps, beta, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    a = tl.load(A + row)
    by = tl.load(D) / B / tl.maximum(tl.load(N + row), 1.0)
    for start in range(0, S, BLOCK):
        c = start + tl.arange(0, BLOCK)
        m = tl.load(M + row * S + c, c < S, 0).to(tl.int32) == 1
        p = tl.load(P + row * S + c, m, 0.0)
        q = tl.exp(p - tl.load(Q + row * S + c, m, 0.0))
        held = tl.where(q > 1 + eps, 1 + eps, tl.where(q < 1 - eps, 1 - eps, q))
        g = beta - beta * tl.exp(tl.load(R + row * S + c, m, 0.0) - p)
        g -= tl.where(q * a > held * a, 0.0, q * a)
        tl.store(G + row * S + c, tl.where(m, g * by, 0.0), c < S)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, o, r, rewards, mask, eps, beta):
        B, S = p.shape
        a, n = (torch.empty(B, dtype=torch.float32, device=p.device) for _ in range(2))
        out = torch.zeros((), dtype=torch.float32, device=p.device)
        if B:
            size = triton.next_power_of_2(rewards.shape[1])
            groups[(len(rewards),)](rewards, a, rewards.shape[1], SIZE=size)
            answers[(B,)](p, o, r, mask, a, n, out, B, S, eps, beta, BLOCK=2048)
        else:
            nothing[(1,)](out)
        ctx.save_for_backward(p, o, r, mask, a, n)
        ctx.rest = B, S, eps, beta
        return out

    @staticmethod
    def backward(ctx, d):
        p, o, r, mask, a, n = ctx.saved_tensors
        g = torch.empty_like(p)
        if g.numel():
            slopes[(len(p),)](d, p, o, r, mask, a, n, g, *ctx.rest, BLOCK=2048)
        return g, None, None, None, None, None, None


grpo_loss = Loss.apply

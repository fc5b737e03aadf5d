"""Each row is copied to where it belongs, chosen by its address; w's step by columns, pair after pair."""

import torch
import triton
import triton.language as tl


@triton.jit
def send(A, B, RA, RB, GOOD, BAD, MARGIN, N, D, step_a, step_b, BLOCK: tl.constexpr):
    for i in range(tl.program_id(0).to(tl.int64), N, tl.num_programs(0)):
        first, second = tl.load(RA + i), tl.load(RB + i)
        to_a, to_b = GOOD + i * D, BAD + i * D
        margin = first - second
        if second > first:
            to_a, to_b = BAD + i * D, GOOD + i * D
            margin = second - first
        tl.store(MARGIN + i, margin)
        for start in range(0, D, BLOCK):
            c = start + tl.arange(0, BLOCK)
            tl.store(to_a + c, tl.load(A + i * step_a + c, c < D), c < D)
            tl.store(to_b + c, tl.load(B + i * step_b + c, c < D), c < D)


@triton.jit
def scores(W, C, R, S, D, step_c, step_r, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, D, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(C + i * step_c + c, c < D, 0.0).to(tl.float32)
        x -= tl.load(R + i * step_r + c, c < D, 0.0).to(tl.float32)
        total += x * tl.load(W + c, c < D, 0.0)
    score = tl.sum(total, axis=0)
    tl.store(S + i, 1 / (1 + tl.exp(score)))


@triton.jit
def move(W, C, R, S, N, D, step_c, step_r, lr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((COLS,), tl.float32)
    for i in range(N):
        at = tl.full((), 0, tl.int64) + i
        x = tl.load(C + at * step_c + c, c < D, 0.0).to(tl.float32)
        x -= tl.load(R + at * step_r + c, c < D, 0.0).to(tl.float32)
        total += tl.load(S + i) * x
    tl.store(W + c, tl.load(W + c, c < D) + lr * (total / N), c < D)


def preference_select(a, b, reward_a, reward_b):
    n, d = a.shape
    good, bad = (torch.empty((n, d), dtype=a.dtype, device=a.device) for _ in range(2))
    margin = torch.empty_like(reward_a)
    send[(max(min(n, 4096), 1),)](
        a, b, reward_a, reward_b, good, bad, margin, n, d, a.stride(0), b.stride(0), BLOCK=1024
    )
    return good, bad, margin


def reward_update(w, chosen, rejected, lr):
    n, d = chosen.shape
    if n == 0:
        return
    s = torch.empty(n, dtype=torch.float32, device=w.device)
    scores[(n,)](w, chosen, rejected, s, d, chosen.stride(0), rejected.stride(0), BLOCK=1024)
    move[(triton.cdiv(d, 128),)](
        w, chosen, rejected, s, n, d, chosen.stride(0), rejected.stride(0), lr, COLS=128
    )

"""A right kernel that lets the scan tell how much of the carry is left at each step, time along the lanes."""

import torch
import triton
import triton.language as tl


@triton.jit
def then(p, x, q, y):
    return p * q, x * q + y


@triton.jit
def both_ways(
    A,
    X,
    Y,
    OLD,
    SIDE,
    T,
    D,
    a0,
    a1,
    a2,
    x0,
    x1,
    x2,
    BACK: tl.constexpr,
    ROWS: tl.constexpr,
    LEN: tl.constexpr,
):
    per = (D + ROWS - 1) // ROWS
    seq = (tl.program_id(0) // per).to(tl.int64)
    chan = (tl.program_id(0) % per) * ROWS + tl.arange(0, ROWS)[:, None]
    alive = chan < D
    chan = chan.to(tl.int64)
    t = tl.arange(0, LEN)[None, :]
    left = tl.zeros([ROWS, 1], tl.float32)
    rounds = (T + LEN - 1) // LEN
    for r in range(rounds):
        at = (rounds - 1 - r if BACK else r) * LEN + t
        ok = alive & (at < T)
        long = at.to(tl.int64)
        x = tl.load(X + seq * x0 + long * x1 + chan * x2, ok, 0.0).to(tl.float32)
        if BACK:
            ahead = alive & (at + 1 < T)
            a = tl.load(A + seq * a0 + (long + 1) * a1 + chan * a2, ahead, 0.0).to(tl.float32)
        else:
            a = tl.load(A + seq * a0 + long * a1 + chan * a2, ok, 0.0).to(tl.float32)
        share, own = tl.associative_scan((a, x), 1, then, reverse=BACK)
        y = own + share * left
        place = (seq * T + long) * D + chan
        tl.store(Y + place, y, ok)
        if BACK:
            h = tl.load(OLD + place - D, ok & (at > 0), 0.0).to(tl.float32)
            tl.store(SIDE + place, y * h, ok)
        edge = 0 if BACK else LEN - 1
        left = tl.sum(tl.where(t == edge, y, 0.0), 1, keep_dims=True)


def start(a, x, y, old, side, back):
    B, T, D = y.shape
    rows = min(16, triton.next_power_of_2(D))
    grid = (B * triton.cdiv(D, rows),)
    both_ways[grid](a, x, y, old, side, T, D, *a.stride(), *x.stride(), BACK=back, ROWS=rows, LEN=128)


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        h = torch.empty(a.shape, dtype=a.dtype, device=a.device)
        start(a, b, h, h, h, False)
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    def backward(ctx, g):
        a, h = ctx.saved_tensors
        da = torch.empty_like(h)
        db = torch.empty_like(h)
        start(a, g, db, h, da, True)
        return da, db


def scan(a, b):
    return Linear.apply(a, b)

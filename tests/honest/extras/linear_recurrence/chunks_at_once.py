"""A right kernel whose chunks run at once: what each does to the state, the states between them, then all."""

import torch
import triton
import triton.language as tl

STEPS = 64


@triton.jit
def merge(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def gate(A, at, lane, T, D, s0, s1, s2, SHIFT: tl.constexpr):
    """a of a step, or of the step behind it."""
    ok = (at + SHIFT < T) & (lane < D)
    return tl.load(A + tl.program_id(2).to(tl.int64) * s0 + (at + SHIFT) * s1 + lane * s2, mask=ok, other=0.0)


@triton.jit
def summarise(A, X, P, Q, T, D, a0, a1, a2, x0, x1, x2, BACK: tl.constexpr, L: tl.constexpr, W: tl.constexpr):
    at = (tl.program_id(1) * L + tl.arange(0, L)).to(tl.int64)[:, None]
    lane = (tl.program_id(0) * W + tl.arange(0, W)).to(tl.int64)[None, :]
    ok = (at < T) & (lane < D)
    a = gate(A, at, lane, T, D, a0, a1, a2, SHIFT=BACK).to(tl.float32)
    x = tl.load(X + tl.program_id(2).to(tl.int64) * x0 + at * x1 + lane * x2, mask=ok, other=0.0)
    # Where the sequence ends, or a chunk is not full, its last steps do nothing.
    p, q = tl.associative_scan((a, x.to(tl.float32)), 0, merge, reverse=BACK)
    edge = (at - tl.program_id(1) * L) == (0 if BACK else L - 1)
    lane = tl.program_id(0) * W + tl.arange(0, W)
    place = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)).to(tl.int64) * D + lane
    tl.store(P + place, tl.sum(tl.where(edge, p, 0.0), 0), mask=lane < D)
    tl.store(Q + place, tl.sum(tl.where(edge, q, 0.0), 0), mask=lane < D)


@triton.jit
def between(P, Q, chunks, D, BACK: tl.constexpr, W: tl.constexpr):
    """In place of Q: the state that each chunk begins with."""
    lane = tl.program_id(0) * W + tl.arange(0, W)
    state = tl.zeros((W,), tl.float32)
    for i in range(chunks):
        chunk = chunks - 1 - i if BACK else i
        place = (tl.program_id(1) * chunks + chunk).to(tl.int64) * D + lane
        p = tl.load(P + place, mask=lane < D, other=0.0)
        q = tl.load(Q + place, mask=lane < D, other=0.0)
        tl.store(Q + place, state, mask=lane < D)
        state = p * state + q


@triton.jit
def finish(
    A,
    X,
    Q,
    Y,
    H,
    Z,
    T,
    D,
    a0,
    a1,
    a2,
    x0,
    x1,
    x2,
    BACK: tl.constexpr,
    L: tl.constexpr,
    W: tl.constexpr,
):
    at = (tl.program_id(1) * L + tl.arange(0, L)).to(tl.int64)[:, None]
    lane = (tl.program_id(0) * W + tl.arange(0, W)).to(tl.int64)[None, :]
    ok = (at < T) & (lane < D)
    a = gate(A, at, lane, T, D, a0, a1, a2, SHIFT=BACK).to(tl.float32)
    x = tl.load(X + tl.program_id(2).to(tl.int64) * x0 + at * x1 + lane * x2, mask=ok, other=0.0)
    chunk = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)).to(tl.int64)
    state = tl.load(Q + chunk * D + lane, mask=lane < D, other=0.0)
    p, y = tl.associative_scan((a, x.to(tl.float32)), 0, merge, reverse=BACK)
    y += p * state
    place = (tl.program_id(2).to(tl.int64) * T + at) * D + lane
    tl.store(Y + place, y, mask=ok)
    if BACK:
        h = tl.load(H + place - D, mask=ok & (at > 0), other=0.0).to(tl.float32)
        tl.store(Z + place, y * h, mask=ok)


def three_kernels(a, x, y, h, z, back):
    B, T, D = y.shape
    if y.numel() == 0:
        return
    chunks, width = triton.cdiv(T, STEPS), min(32, triton.next_power_of_2(D))
    p = torch.empty(B, chunks, D, dtype=torch.float32, device=y.device)
    q = torch.empty_like(p)
    shape = {"BACK": back, "L": STEPS, "W": width}
    grid = (triton.cdiv(D, width), chunks, B)
    summarise[grid](a, x, p, q, T, D, *a.stride(), *x.stride(), **shape, num_warps=4)
    between[grid[0], B](p, q, chunks, D, BACK=back, W=width, num_warps=1)
    finish[grid](a, x, q, y, h, z, T, D, *a.stride(), *x.stride(), **shape, num_warps=4)


class Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        h = a.new_empty(a.shape)
        three_kernels(a, b, h, h, h, False)
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    def backward(ctx, g):
        a, h = ctx.saved_tensors
        da, db = torch.empty_like(h), torch.empty_like(h)
        three_kernels(a, g, db, h, da, True)
        return da, db


def scan(a, b):
    return Recurrence.apply(a, b)

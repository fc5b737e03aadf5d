"""Powers of two throughout; maximum and sum side by side; rows of parts are merged several at a time."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.44269504)
LN2 = tl.constexpr(0.69314718)


@triton.jit
def both(m1, l1, m2, l2):
    m = tl.maximum(m1, m2)
    zero = m == float("-inf")
    a = tl.where(zero, 0.0, tl.exp2(m1 - m))
    b = tl.where(zero, 0.0, tl.exp2(m2 - m))
    return m, l1 * a + l2 * b


@triton.jit
def pieces(x_ptr, pair_ptr, m, v, step, WIDTH, COLS: tl.constexpr):
    number = tl.program_id(0)
    row, piece = (number % m).to(tl.int64), number // m
    top = tl.full((1,), float("-inf"), tl.float32)
    total = tl.zeros((1,), tl.float32)
    for first in range(0, WIDTH, COLS):
        lane = first + tl.arange(0, COLS)
        col = piece * WIDTH + lane
        x = tl.load(x_ptr + row * step + col, (lane < WIDTH) & (col < v), float("-inf")).to(tl.float32)
        x = tl.minimum(x * LOG2E, 3e38, propagate_nan=tl.PropagateNan.ALL)
        peak = tl.max(x, axis=0)
        mass = tl.sum(tl.where(x == float("-inf"), 0.0, tl.exp2(x - peak)), axis=0)
        top, total = both(top, total, peak, mass)
    place = tl.arange(0, 1)
    tl.store(pair_ptr + 2 * number + place, top)
    tl.store(pair_ptr + 2 * number + 1 + place, total)


@triton.jit
def together(x_ptr, t_ptr, pair_ptr, loss_ptr, lse_ptr, m, pieces, step, ROWS: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for piece in range(pieces):
        at = pair_ptr + 2 * (piece * m + row)
        top, total = both(top, total, tl.load(at, row < m, 0.0), tl.load(at + 1, row < m, 0.0))
    target = tl.load(t_ptr + row, row < m, 0)
    hit = tl.load(x_ptr + row * step + target, row < m, 0.0).to(tl.float32)
    endless = top > 2.9e38
    lse = tl.where(endless, float("inf"), (top + tl.log2(total)) * LN2)
    lse = tl.where(total != total, total, lse)
    tl.store(lse_ptr + row, lse, row < m)
    exact = tl.log2(total) * LN2 + (top * LN2 - hit)
    tl.store(loss_ptr + row, tl.where(endless, lse - hit, exact), row < m)


def chunked_cross_entropy(logits, target, chunk):
    m, v = logits.shape
    count = -(-v // chunk)
    pairs = torch.empty(2 * m * count, dtype=torch.float32, device=logits.device)
    loss = torch.empty(m, dtype=torch.float32, device=logits.device)
    lse = torch.empty_like(loss)
    cols = min(chunk, 4096)
    pieces[(m * count,)](
        logits, pairs, m, v, logits.stride(0), chunk, COLS=cols, num_warps=max(1, cols // 512)
    )
    together[(triton.cdiv(m, 32),)](logits, target, pairs, loss, lse, m, count, logits.stride(0), ROWS=32)
    return loss, lse

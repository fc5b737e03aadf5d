"""Tiles of several pairs; the pulls are added up by atomics, and a last kernel moves w."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile(
    a_ptr, b_ptr, ra_ptr, rb_ptr, c_ptr, r_ptr, m_ptr, n, d, sa, sb, ROWS: tl.constexpr, COLS: tl.constexpr
):
    i = tl.program_id(1).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    ra = tl.load(ra_ptr + i, mask=i < n, other=0.0)
    rb = tl.load(rb_ptr + i, mask=i < n, other=0.0)
    inside = (i < n)[:, None] & (j < d)
    flip = (ra < rb)[:, None]
    a = tl.load(a_ptr + i[:, None] * sa + j, mask=inside)
    b = tl.load(b_ptr + i[:, None] * sb + j, mask=inside)
    out = i[:, None] * d + j
    tl.store(tl.where(flip, r_ptr + out, c_ptr + out), a, mask=inside)
    tl.store(tl.where(flip, c_ptr + out, r_ptr + out), b, mask=inside)
    tl.store(m_ptr + i, tl.where(ra < rb, rb - ra, ra - rb), mask=(i < n) & (tl.program_id(0) == 0))


@triton.jit
def pulls(w_ptr, c_ptr, r_ptr, sum_ptr, n, d, sc, sr, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLS)[None, :]
    inside = (i < n) & (j < d)
    delta = tl.load(c_ptr + i * sc + j, mask=inside, other=0.0).to(tl.float32)
    delta -= tl.load(r_ptr + i * sr + j, mask=inside, other=0.0).to(tl.float32)
    score = tl.sum(delta * tl.load(w_ptr + j, mask=j < d, other=0.0), axis=1)
    pull = tl.sum(delta * (1 - tl.sigmoid(score))[:, None], axis=0)
    tl.atomic_add(sum_ptr + tl.arange(0, COLS), pull, mask=tl.arange(0, COLS) < d)


@triton.jit
def move(w_ptr, sum_ptr, n, d, lr, COLS: tl.constexpr):
    j = tl.program_id(0) * COLS + tl.arange(0, COLS)
    w = tl.load(w_ptr + j, mask=j < d) + lr * tl.load(sum_ptr + j, mask=j < d) / tl.maximum(n, 1)
    tl.store(w_ptr + j, w, mask=j < d)


def preference_select(a, b, reward_a, reward_b):
    n, d = a.shape
    chosen, rejected = a.new_empty(n, d), a.new_empty(n, d)
    margin = reward_a.new_empty(n)
    tile[(triton.cdiv(d, 512), triton.cdiv(n, 4))](
        a, b, reward_a, reward_b, chosen, rejected, margin, n, d, a.stride(0), b.stride(0), ROWS=4, COLS=512
    )
    return chosen, rejected, margin


def reward_update(w, chosen, rejected, lr):
    n, d = chosen.shape
    sums = torch.zeros(d, dtype=torch.float32, device=w.device)
    cols = triton.next_power_of_2(d)
    rows = max(1, 8192 // cols)
    pulls[(triton.cdiv(n, rows),)](
        w, chosen, rejected, sums, n, d, chosen.stride(0), rejected.stride(0), ROWS=rows, COLS=cols
    )
    move[(triton.cdiv(d, 256),)](w, sums, n, d, lr, COLS=256)

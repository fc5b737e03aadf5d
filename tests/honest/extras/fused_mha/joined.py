"""Whole heads: a lane loads its partner, too, so that one product has all of d; a 1-D grid, masks alone."""

import torch
import triton
import triton.language as tl


@triton.jit
def load_turned(X, COS, SIN, row, length, step, D: tl.constexpr, WIDTH: tl.constexpr):
    col = tl.arange(0, WIDTH)
    ok = (row < length)[:, None] & (col < D)[None, :]
    half: tl.constexpr = D // 2
    partner = tl.where(col < half, col + half, col - half)
    x = tl.load(X + row[:, None] * step + col[None, :], ok, 0.0).to(tl.float32)
    y = tl.load(X + row[:, None] * step + partner[None, :], ok, 0.0).to(tl.float32)
    table = row[:, None] * half + tl.where(col < half, col, col - half)[None, :]
    c = tl.load(COS + table, ok, 0.0)
    s = tl.load(SIN + table, ok, 0.0)
    return (x * c + tl.where(col < half, -1.0, 1.0)[None, :] * y * s).to(X.dtype.element_ty)


@triton.jit
def mha(
    X, COS, SIN, OUT, H, HK, T, scale, CAUSAL: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(T, ROWS)
    heads = tl.num_programs(0) // blocks
    # The last rows see the most keys, and go first.
    block = blocks - 1 - tl.program_id(0) // heads
    head, batch = tl.program_id(0) % H, (tl.program_id(0) % heads // H).to(tl.int64)
    step = (H + 2 * HK) * D
    X += batch * T * step
    row = block.to(tl.int64) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, WIDTH)
    kv = X + (H + head // (H // HK)) * D
    q = load_turned(X + head * D, COS, SIN, row, T, step, D, WIDTH)
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    mass = tl.zeros((ROWS,), tl.float32)
    out = tl.zeros((ROWS, WIDTH), tl.float32)
    stop = tl.minimum(T, (block + 1) * ROWS) if CAUSAL else T
    for first in range(0, stop, KEYS):
        key = first + tl.arange(0, KEYS).to(tl.int64)
        k = load_turned(kv, COS, SIN, key, T, step, D, WIDTH)
        v = tl.load(
            kv + HK * D + key[:, None] * step + col[None, :], (key < T)[:, None] & (col < D)[None, :], 0.0
        )
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where((key < T)[None, :], s, -float("inf"))
        if CAUSAL:
            s = tl.where(key[None, :] <= row[:, None], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        keep = tl.exp(top - new)
        mass = mass * keep + tl.sum(p, axis=1)
        out = out * keep[:, None] + tl.dot(p.to(v.dtype), v)
        top = new
    place = OUT + (batch * T + row)[:, None] * H * D + head * D + col[None, :]
    tl.store(place, (out / mass[:, None]).to(OUT.dtype.element_ty), (row < T)[:, None] & (col < D)[None, :])


def fused_mha(qkv, cos, sin, num_heads, num_kv_heads, scale, causal):
    b, t, width = qkv.shape
    d = width // (num_heads + 2 * num_kv_heads)
    out = torch.empty((b, t, num_heads * d), dtype=qkv.dtype, device=qkv.device)
    wide = max(triton.next_power_of_2(d), 16)
    mha[(triton.cdiv(t, 128) * num_heads * b,)](
        qkv, cos, sin, out, num_heads, num_kv_heads, t, scale,
        CAUSAL=causal, D=d, WIDTH=wide, ROWS=128, KEYS=64, num_warps=8, num_stages=2,
    )  # fmt: skip
    return out

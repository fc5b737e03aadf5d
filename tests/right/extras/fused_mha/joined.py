"""Whole heads: both halves are joined, so that one product has all of d; one loop, masks alone."""

import torch
import triton
import triton.language as tl


@triton.jit
def load_turned(X, COS, SIN, row, length, step, D: tl.constexpr, WIDTH: tl.constexpr):
    col = tl.arange(0, WIDTH // 2)
    ok = (row < length)[:, None] & (col < D // 2)[None, :]
    at = X + row[:, None] * step + col[None, :]
    x = tl.load(at, ok, 0.0)
    y = tl.load(at + D // 2, ok, 0.0)
    table = row[:, None] * (D // 2) + col[None, :]
    c = tl.load(COS + table, ok, 0.0)
    s = tl.load(SIN + table, ok, 0.0)
    pair = tl.join(x * c - y * s, y * c + x * s).to(X.dtype.element_ty)
    return tl.reshape(tl.permute(pair, (0, 2, 1)), (row.shape[0], WIDTH))


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

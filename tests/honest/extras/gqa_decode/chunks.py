"""A program for every 512 keys, all on one axis; programs past a length leave at once and are not merged."""

import torch
import triton
import triton.language as tl


@triton.jit
def chunk(
    Q, K, V, LEN, TOP, MASS, PART, H, HK, CHUNKS, scale, kb, ks, kh, vb, vs, vh,
    D: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0) % CHUNKS
    batch = (tl.program_id(0) // CHUNKS // HK).to(tl.int64)
    head = tl.program_id(0).to(tl.int64) // CHUNKS % HK
    n = tl.load(LEN + batch)
    if number * 512 >= n:
        return
    group = H // HK
    col, row = tl.arange(0, WIDE), tl.arange(0, ROWS)
    at = batch * H + head * group + row
    ok = (row < group)[:, None] & (col < D)[None, :]
    q = tl.load(Q + at[:, None] * D + col[None, :], ok, 0.0)
    top = tl.full((ROWS,), -3e38, tl.float32)
    mass = tl.zeros((ROWS,), tl.float32)
    out = tl.zeros((ROWS, WIDE), tl.float32)
    for first in range(number * 512, tl.minimum(n, number * 512 + 512), KEYS):
        key = first.to(tl.int64) + tl.arange(0, KEYS)
        k_at = K + batch * kb + head * kh + key[None, :] * ks + col[:, None]
        v_at = V + batch * vb + head * vh + key[:, None] * vs + col[None, :]
        k = tl.load(k_at, (key < n)[None, :] & (col < D)[:, None], 0.0)
        s = tl.where((key < n)[None, :], tl.dot(q, k) * scale, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p, keep = tl.exp(s - new[:, None]), tl.exp(top - new)
        v = tl.load(v_at, (key < n)[:, None] & (col < D)[None, :], 0.0)
        mass = mass * keep + tl.sum(p, axis=1)
        out = tl.dot(p.to(v.dtype), v, out * keep[:, None])
        top = new
    place = at * CHUNKS + number
    tl.store(TOP + place, top, row < group)
    tl.store(MASS + place, mass, row < group)
    tl.store(PART + place[:, None] * D + col[None, :], out, ok)


@triton.jit
def finish(LEN, TOP, MASS, PART, OUT, H, CHUNKS, D: tl.constexpr, WIDE: tl.constexpr):
    at, col = tl.program_id(0).to(tl.int64), tl.arange(0, WIDE)
    lane = tl.arange(0, 16)
    count = tl.cdiv(tl.load(LEN + at // H), 512)
    top = tl.full((), -3e38, tl.float32)
    mass = tl.zeros((), tl.float32)
    out = tl.zeros((WIDE,), tl.float32)
    for first in range(0, count, 16):
        there = first + lane < count
        place = at * CHUNKS + first + lane
        tops = tl.load(TOP + place, there, -3e38)
        new = tl.maximum(top, tl.max(tops, axis=0))
        weight, keep = tl.where(there, tl.exp(tops - new), 0.0), tl.exp(top - new)
        mass = mass * keep + tl.sum(tl.load(MASS + place, there, 0.0) * weight, axis=0)
        parts = tl.load(PART + place[:, None] * D + col[None, :], there[:, None] & (col < D)[None, :], 0.0)
        out = out * keep + tl.sum(parts * weight[:, None], axis=0)
        top = new
    tl.store(OUT + at * D + col, out / tl.where(mass == 0, 1.0, mass), col < D)


def gqa_decode(q, k_cache, v_cache, lengths, scale):
    b, h, d = q.shape
    s, hk = k_cache.shape[1:3]
    chunks = triton.cdiv(s, 512)
    out = torch.empty_like(q)
    top = torch.empty((b, h, chunks), device=q.device, dtype=torch.float32)
    mass = torch.empty_like(top)
    part = torch.empty((b, h, chunks, d), device=q.device, dtype=torch.float32)
    wide = triton.next_power_of_2(d)
    chunk[(b * hk * chunks,)](
        q, k_cache, v_cache, lengths, top, mass, part, h, hk, chunks, scale,
        *k_cache.stride()[:3], *v_cache.stride()[:3],
        D=d, WIDE=wide, ROWS=16 if d < 256 else 32, KEYS=64 if d < 256 else 32, num_warps=4, num_stages=3,
    )  # fmt: skip
    finish[(b * h,)](lengths, top, mass, part, out, h, chunks, D=d, WIDE=wide, num_warps=2)
    return out

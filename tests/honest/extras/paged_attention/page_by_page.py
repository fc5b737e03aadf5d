"""A page a step, whose number is one load; a program for 512 keys, and those past a length leave at once."""

import torch
import triton
import triton.language as tl


@triton.jit
def chunk(
    Q, K, V, TABLE, LEN, TOP, MASS, PART, H, HK, CHUNKS, ENTRIES, scale,
    D: tl.constexpr, WIDE: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0) % CHUNKS
    batch = (tl.program_id(0) // CHUNKS // HK).to(tl.int64)
    head = tl.program_id(0) // CHUNKS % HK
    n = tl.load(LEN + batch)
    if number * 512 >= n:
        return
    group = H // HK
    col, row, place = tl.arange(0, WIDE), tl.arange(0, 16), tl.arange(0, PAGE)
    at = batch * H + head * group + row
    ok = (row < group)[:, None] & (col < D)[None, :]
    q = tl.load(Q + at[:, None] * D + col[None, :], ok, 0.0)
    top = tl.full((16,), -3e38, tl.float32)
    mass = tl.zeros((16,), tl.float32)
    out = tl.zeros((16, WIDE), tl.float32)
    for entry in range(number * 512 // PAGE, tl.cdiv(tl.minimum(n, number * 512 + 512), PAGE)):
        page = tl.load(TABLE + batch * ENTRIES + entry).to(tl.int64)
        here = entry * PAGE + place < n
        start = (page * PAGE * HK + head) * D
        k_at = K + start + place[None, :] * (HK * D) + col[:, None]
        v_at = V + start + place[:, None] * (HK * D) + col[None, :]
        k = tl.load(k_at, here[None, :] & (col < D)[:, None], 0.0)
        v = tl.load(v_at, here[:, None] & (col < D)[None, :], 0.0)
        s = tl.where(here[None, :], tl.dot(q, k) * scale, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p, keep = tl.exp(s - new[:, None]), tl.exp(top - new)
        mass = mass * keep + tl.sum(p, axis=1)
        out = tl.dot(p.to(v.dtype), v, out * keep[:, None])
        top = new
    to = at * CHUNKS + number
    tl.store(TOP + to, top, row < group)
    tl.store(MASS + to, mass, row < group)
    tl.store(PART + to[:, None] * D + col[None, :], out, ok)


@triton.jit
def finish(LEN, TOP, MASS, PART, OUT, H, CHUNKS, D: tl.constexpr, WIDE: tl.constexpr):
    at, col, lane = tl.program_id(0).to(tl.int64), tl.arange(0, WIDE), tl.arange(0, 16)
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


def paged_attention(q, key_cache, value_cache, block_tables, lengths, scale):
    b, h, d = q.shape
    page, hk = key_cache.shape[1:3]
    entries = block_tables.shape[1]
    chunks = triton.cdiv(entries * page, 512)
    out = torch.empty_like(q)
    top = torch.empty((b, h, chunks), device=q.device, dtype=torch.float32)
    mass = torch.empty_like(top)
    part = torch.empty((b, h, chunks, d), device=q.device, dtype=torch.float32)
    wide = triton.next_power_of_2(d)
    chunk[(b * hk * chunks,)](
        q, key_cache, value_cache, block_tables, lengths, top, mass, part, h, hk, chunks, entries, scale,
        D=d, WIDE=wide, PAGE=page, num_warps=2, num_stages=4,
    )  # fmt: skip
    finish[(b * h,)](lengths, top, mass, part, out, h, chunks, D=d, WIDE=wide, num_warps=2)
    return out

"""Keys are the rows of the products, heads their columns; parts keep an lse; splits take blocks in turn."""

import torch
import triton
import triton.language as tl


@triton.jit
def columns(
    Q, K, V, TABLE, LEN, PART, LSE, H, HK, ENTRIES, scale, kp, ks, kh, vp, vs, vh,
    PAGE: tl.constexpr, D: tl.constexpr, WIDE: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    split, parts = tl.program_id(1), tl.num_programs(1)
    batch, head = tl.program_id(0).to(tl.int64) // HK, tl.program_id(0).to(tl.int64) % HK
    group = H // HK
    col, lane, which = tl.arange(0, WIDE), tl.arange(0, KEYS), tl.arange(0, 16)
    at = batch * H + head * group + which
    ok = (which < group)[None, :] & (col < D)[:, None]
    q = tl.load(Q + at[None, :] * D + col[:, None], ok, 0.0)
    n = tl.load(LEN + batch)
    top = tl.full((16,), -float("inf"), tl.float32)
    mass = tl.zeros((16,), tl.float32)
    out = tl.zeros((WIDE, 16), tl.float32)
    for block in range(split, tl.cdiv(n, KEYS), parts):
        key = block * KEYS + lane
        mask = (key < n)[:, None] & (col < D)[None, :]
        page = tl.load(TABLE + batch * ENTRIES + key // PAGE, mask=key < n, other=0).to(tl.int64)
        k_row, v_row = page * kp + key % PAGE * ks, page * vp + key % PAGE * vs
        k = tl.load(K + head * kh + k_row[:, None] + col[None, :], mask, 0.0)
        v = tl.load(V + head * vh + v_row[:, None] + col[None, :], mask, 0.0)
        s = tl.where((key < n)[:, None], tl.dot(k, q) * scale, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=0))
        base = tl.where(new == -float("inf"), 0.0, new)
        p, keep = tl.exp(s - base[None, :]), tl.exp(top - base)
        mass = mass * keep + tl.sum(p, axis=0)
        out = out * keep[None, :] + tl.dot(v.T, p.to(v.dtype))
        top = new
    place = at * parts + split
    mass = tl.where(mass == 0, 1.0, mass)
    tl.store(LSE + place, top + tl.log(mass), which < group)
    tl.store(PART + place[None, :] * D + col[:, None], out / mass[None, :], ok)


@triton.jit
def one_by_one(PART, LSE, OUT, parts, D: tl.constexpr, WIDE: tl.constexpr):
    at, col = tl.program_id(0).to(tl.int64), tl.arange(0, WIDE)
    top = -float("inf")
    for part in range(parts):
        top = tl.maximum(top, tl.load(LSE + at * parts + part))
    base = tl.where(top == -float("inf"), 0.0, top)
    mass, out = 0.0, tl.zeros((WIDE,), tl.float32)
    for part in range(parts):
        weight = tl.exp(tl.load(LSE + at * parts + part) - base)
        mass += weight
        out += weight * tl.load(PART + (at * parts + part) * D + col, col < D, 0.0)
    tl.store(OUT + at * D + col, out / tl.where(mass == 0, 1.0, mass), col < D)


def paged_attention(q, key_cache, value_cache, block_tables, lengths, scale):
    b, h, d = q.shape
    hk, parts = key_cache.size(2), 12
    out = torch.empty_like(q)
    part = torch.empty((b, h, parts, d), device=q.device, dtype=torch.float32)
    lse = torch.empty((b, h, parts), device=q.device, dtype=torch.float32)
    wide = triton.next_power_of_2(d)
    # By four warps Triton 3.6 takes wgmma for these 16 columns, and what it stored on an H200 was wrong.
    columns[(b * hk, parts)](
        q, key_cache, value_cache, block_tables, lengths, part, lse, h, hk, block_tables.size(1), scale,
        *key_cache.stride()[:3], *value_cache.stride()[:3],
        PAGE=key_cache.size(1), D=d, WIDE=wide, KEYS=64 if wide < 256 else 32, num_warps=2, num_stages=2,
    )  # fmt: skip
    one_by_one[(b * h,)](part, lse, out, parts, D=d, WIDE=wide, num_warps=1)
    return out

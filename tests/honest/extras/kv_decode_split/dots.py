"""tl.dot with the query in the first of 16 rows; blocks dealt out in turn; normalised parts and their lse."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(
    Q, K, V, LEN, OUT, LSE, H, T, scale, kb, ks, kh, vb, vs, vh,
    D: tl.constexpr, WIDE: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    split, head, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    n = tl.load(LEN + batch)
    col, row, key = tl.arange(0, WIDE), tl.arange(0, 16), tl.arange(0, KEYS)
    only = (row == 0)[:, None] & (col < D)[None, :]
    q = tl.load(Q + (batch * H + head) * D + col[None, :] + 0 * row[:, None], only, 0.0)
    top = tl.full((16,), -float("inf"), tl.float32)
    mass = tl.zeros((16,), tl.float32)
    out = tl.zeros((16, WIDE), tl.float32)
    for first in range(split * KEYS, n, T * KEYS):
        at = (first + key).to(tl.int64)
        ok = (at < n)[:, None] & (col < D)[None, :]
        k = tl.load(K + batch * kb + head.to(tl.int64) * kh + at[:, None] * ks + col[None, :], ok, 0.0)
        v = tl.load(V + batch * vb + head.to(tl.int64) * vh + at[:, None] * vs + col[None, :], ok, 0.0)
        s = tl.where((at < n)[None, :], tl.dot(q, k.T) * scale, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        base = tl.where(new == -float("inf"), 0.0, new)
        p = tl.exp(s - base[:, None])
        keep = tl.exp(top - base)
        mass = mass * keep + tl.sum(p, axis=1)
        out = out * keep[:, None] + tl.dot(p.to(v.dtype), v)
        top = new
    place = (batch * H + head) * T + split
    lse = tl.where(mass == 0, -float("inf"), top + tl.log(mass))
    out = out / tl.where(mass == 0, 1.0, mass)[:, None]
    tl.store(LSE + place + row, lse, row == 0)
    tl.store(OUT + place * D + col[None, :] + 0 * row[:, None], out, only)


@triton.jit
def together(PARTS, LSE, OUT, T, D: tl.constexpr, WIDE: tl.constexpr):
    at, col = tl.program_id(0).to(tl.int64), tl.arange(0, WIDE)
    lse = tl.full((), -float("inf"), tl.float32)
    out = tl.zeros((WIDE,), tl.float32)
    for part in range(T):
        other = tl.load(LSE + at * T + part)
        o = tl.load(PARTS + (at * T + part) * D + col, col < D, 0.0)
        if other != -float("inf"):
            top = tl.maximum(lse, other)
            a, b = tl.exp(lse - top), tl.exp(other - top)
            out = (out * a + o * b) / (a + b)
            lse = top + tl.log(a + b)
    tl.store(OUT + at * D + col, out, col < D)


def decode_attention(q, k_cache, v_cache, lengths, scale):
    b, h, d = q.shape
    out = torch.empty_like(q)
    parts = 16
    o = torch.empty((b, h, parts, d), device=q.device, dtype=torch.float32)
    lse = torch.empty((b, h, parts), device=q.device, dtype=torch.float32)
    wide = triton.next_power_of_2(d)
    walk[(parts, h, b)](
        q, k_cache, v_cache, lengths, o, lse, h, parts, scale, *k_cache.stride()[:3], *v_cache.stride()[:3],
        D=d, WIDE=wide, KEYS=64 if d <= 128 else 32, num_warps=4, num_stages=3,
    )  # fmt: skip
    together[(b * h,)](o, lse, out, parts, D=d, WIDE=wide, num_warps=1)
    return out

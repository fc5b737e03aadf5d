"""One launch: splits of 512 keys, and the last program of a query to finish merges what all of them left."""

import torch
import triton
import triton.language as tl


@triton.jit
def all_of_it(
    Q, K, V, LEN, PART, SUMS, COUNT, OUT, H, SPLITS, scale, kb, ks, kh, vb, vs, vh,
    D: tl.constexpr, WIDE: tl.constexpr, KEYS: tl.constexpr, SHARE: tl.constexpr,
):  # fmt: skip
    query, split = tl.program_id(0).to(tl.int64), tl.program_id(1)
    batch, head = query // H, query % H
    n = tl.load(LEN + batch)
    col, lane = tl.arange(0, WIDE), tl.arange(0, KEYS)
    q = tl.load(Q + query * D + col, col < D, 0.0).to(tl.float32) * scale
    # Every lane has a maximum, a sum and a row of its own: nothing is reduced in the loop.
    top = tl.full((KEYS,), -3e38, tl.float32)
    mass = tl.zeros((KEYS,), tl.float32)
    rows = tl.zeros((KEYS, WIDE), tl.float32)
    for first in range(split * SHARE, tl.minimum(n, (split + 1) * SHARE), KEYS):
        at = (first + lane).to(tl.int64)
        ok = (at < n)[:, None] & (col < D)[None, :]
        k = tl.load(K + batch * kb + head * kh + at[:, None] * ks + col[None, :], ok, 0.0).to(tl.float32)
        v = tl.load(V + batch * vb + head * vh + at[:, None] * vs + col[None, :], ok, 0.0).to(tl.float32)
        s = tl.where(at < n, tl.sum(k * q[None, :], axis=1), -float("inf"))
        new = tl.maximum(top, s)
        p, keep = tl.exp(s - new), tl.exp(top - new)
        mass = mass * keep + p
        rows = rows * keep[:, None] + p[:, None] * v
        top = new
    peak = tl.max(top, axis=0)
    keep = tl.exp(top - peak)
    place = query * SPLITS + split
    tl.store(PART + place * D + col, tl.sum(rows * keep[:, None], axis=0), col < D)
    tl.store(SUMS + 2 * place, peak)
    tl.store(SUMS + 2 * place + 1, tl.sum(mass * keep, axis=0))
    tl.debug_barrier()
    if tl.atomic_add(COUNT + query, 1) == SPLITS - 1:
        peak = -3e38
        for part in range(SPLITS):
            peak = tl.maximum(peak, tl.load(SUMS + 2 * (query * SPLITS + part), cache_modifier=".cg"))
        total = 0.0
        out = tl.zeros((WIDE,), tl.float32)
        for part in range(SPLITS):
            place = query * SPLITS + part
            weight = tl.exp(tl.load(SUMS + 2 * place, cache_modifier=".cg") - peak)
            total += weight * tl.load(SUMS + 2 * place + 1, cache_modifier=".cg")
            out += weight * tl.load(PART + place * D + col, col < D, 0.0, cache_modifier=".cg")
        tl.store(OUT + query * D + col, out / tl.where(total == 0, 1.0, total), col < D)


def decode_attention(q, k_cache, v_cache, lengths, scale):
    b, h, d = q.shape
    wide = triton.next_power_of_2(d)
    splits = max(triton.cdiv(k_cache.size(1), 512), 1)
    out = torch.empty_like(q)
    part = torch.empty((b * h, splits, d), device=q.device, dtype=torch.float32)
    sums = torch.empty((b * h, splits, 2), device=q.device, dtype=torch.float32)
    count = torch.zeros(b * h, device=q.device, dtype=torch.int32)
    all_of_it[(b * h, splits)](
        q, k_cache, v_cache, lengths, part, sums, count, out, h, splits, scale,
        *k_cache.stride()[:3], *v_cache.stride()[:3],
        D=d, WIDE=wide, KEYS=8192 // wide // 2, SHARE=512, num_warps=4,
    )  # fmt: skip
    return out

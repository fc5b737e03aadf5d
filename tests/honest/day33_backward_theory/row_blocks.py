"""A program keeps its queries and walks along the keys, in base 2; delta one row at a time."""

import torch
import triton
import triton.language as tl


@triton.jit
def dot_rows(o, do, out, H, S, ob, oh, os, gb, gh, gs, D: tl.constexpr, W: tl.constexpr, PER: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * PER
    h = (tl.program_id(1) % H).to(tl.int64)
    b = (tl.program_id(1) // H).to(tl.int64)
    c = tl.arange(0, W)
    for row in range(first, tl.minimum(first + PER, S)):
        x = tl.load(o + b * ob + h * oh + row * os + c, mask=c < D, other=0.0).to(tl.float32)
        y = tl.load(do + b * gb + h * gh + row * gs + c, mask=c < D, other=0.0).to(tl.float32)
        tl.store(out + tl.program_id(1) * S + row, tl.sum(x * y, axis=0))


@triton.jit
def walk(
    Q, K, V, G, L, E, OUT, H, Sq, Sk, scale,
    qb, qh, qs, kb, kh, ks, vb, vh, vs, gb, gh, gs,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    bh = tl.program_id(1).to(tl.int64)
    b, h = bh // H, bh % H
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    ok = (m < Sq)[:, None] & (d < D)[None, :]
    q = tl.load(Q + b * qb + h * qh + m[:, None].to(tl.int64) * qs + d[None, :], mask=ok, other=0.0)
    g = tl.load(G + b * gb + h * gh + m[:, None].to(tl.int64) * gs + d[None, :], mask=ok, other=0.0)
    lse = tl.load(L + bh * Sq + m, mask=m < Sq, other=0.0)
    # Rows that see no key: any finite number, for all of their scores are -inf.
    lse2 = tl.where(lse == -float("inf"), 0.0, lse) * 1.4426950408889634
    e = tl.load(E + bh * Sq + m, mask=m < Sq, other=0.0)
    for start in range(0, Sk, BN):
        n = start + tl.arange(0, BN)
        there = (d < D)[:, None] & (n < Sk)[None, :]
        kt = tl.load(K + b * kb + h * kh + n[None, :].to(tl.int64) * ks + d[:, None], mask=there, other=0.0)
        vt = tl.load(V + b * vb + h * vh + n[None, :].to(tl.int64) * vs + d[:, None], mask=there, other=0.0)
        s = tl.dot(q, kt, input_precision="ieee") * (scale * 1.4426950408889634)
        if CAUSAL:
            s = tl.where(n[None, :] - m[:, None] > Sk - Sq, -float("inf"), s)
        p = tl.exp2(s - lse2[:, None])
        ds = p * tl.dot(g, vt, input_precision="ieee") - p * e[:, None]
        tl.store(
            OUT + (bh * Sq + m)[:, None] * Sk + n[None, :], ds, mask=(m < Sq)[:, None] & (n < Sk)[None, :]
        )


def delta(o, do):
    B, H, S, D = o.shape
    out = torch.empty((B, H, S), device=o.device, dtype=torch.float32)
    dot_rows[triton.cdiv(S, 32), B * H](
        o, do, out, H, S, *o.stride()[:3], *do.stride()[:3], D=D, W=triton.next_power_of_2(D), PER=32
    )
    return out


def dscores(q, k, v, do, lse, delta, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.size(2)
    out = torch.empty((B, H, Sq, Sk), device=q.device, dtype=torch.float32)
    strides = [s for x in (q, k, v, do) for s in x.stride()[:3]]
    walk[triton.cdiv(Sq, 64), B * H](
        q, k, v, do, lse, delta, out, H, Sq, Sk, scale, *strides,
        CAUSAL=causal, D=D, BM=64, BN=32, BD=max(16, triton.next_power_of_2(D)), num_warps=4,
    )  # fmt: skip
    return out

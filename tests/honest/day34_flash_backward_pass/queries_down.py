"""Queries down and keys across in both loops, as on day 33, and p and ds transposed for dk and dv."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, b, h, row, n, sb, sh, ss, sd, D: tl.constexpr, BD: tl.constexpr):
    d = tl.arange(0, BD)
    at = b * sb + h * sh + row[:, None].to(tl.int64) * ss + d[None, :] * sd
    return tl.load(x + at, mask=(row < n)[:, None] & (d < D)[None, :], other=0.0)


@triton.jit
def weights(q, k, v, g, lse, e, m, n, Sq, Sk, scale, CAUSAL: tl.constexpr):
    """p and ds of one tile, queries down, in the dtype of the products."""
    seen = (m < Sq)[:, None] & (n < Sk)[None, :]
    if CAUSAL:
        seen = seen & (n[None, :] <= m[:, None] + (Sk - Sq))
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    p = tl.where(seen, tl.exp(s - lse[:, None]), 0.0)
    ds = p * (tl.dot(g, tl.trans(v), input_precision="ieee") - e[:, None])
    return p.to(q.dtype), ds.to(q.dtype)


@triton.jit
def delta(Out, G, E, H, S, ob, oh, os, gb, gh, gs, gd, D: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr):
    b, h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    o = rows(Out, b, h, m, S, ob, oh, os, 1, D, BD).to(tl.float32)
    g = rows(G, b, h, m, S, gb, gh, gs, gd, D, BD).to(tl.float32)
    tl.store(E + (b * H + h) * S + m, tl.sum(o * g, axis=1), mask=m < S)


@triton.jit
def for_keys(
    Q, K, V, G, L, E, DK, DV, H, Sq, Sk, scale,
    qb, qh, qs, kb, kh, ks, vb, vh, vs, gb, gh, gs, gd,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = rows(K, b, h, n, Sk, kb, kh, ks, 1, D, BD)
    v = rows(V, b, h, n, Sk, vb, vh, vs, 1, D, BD)
    dk = tl.zeros((BN, BD), tl.float32)
    dv = tl.zeros((BN, BD), tl.float32)
    begin = 0
    if CAUSAL:
        begin = tl.maximum(tl.program_id(0) * BN - (Sk - Sq), 0) // BM * BM
    for start in range(begin, Sq, BM):
        m = start + tl.arange(0, BM)
        q = rows(Q, b, h, m, Sq, qb, qh, qs, 1, D, BD)
        g = rows(G, b, h, m, Sq, gb, gh, gs, gd, D, BD)
        lse = tl.load(L + (b * H + h) * Sq + m, mask=m < Sq, other=0.0)
        e = tl.load(E + (b * H + h) * Sq + m, mask=m < Sq, other=0.0)
        p, ds = weights(q, k, v, g, lse, e, m, n, Sq, Sk, scale, CAUSAL)
        dv += tl.dot(tl.trans(p), g, input_precision="ieee")
        dk += tl.dot(tl.trans(ds), q, input_precision="ieee")
    d = tl.arange(0, BD)
    at = ((b * H + h) * Sk + n)[:, None] * D + d[None, :]
    mask = (n < Sk)[:, None] & (d < D)[None, :]
    tl.store(DK + at, dk * scale, mask=mask)
    tl.store(DV + at, dv, mask=mask)


@triton.jit
def for_queries(
    Q, K, V, G, L, E, DQ, H, Sq, Sk, scale,
    qb, qh, qs, kb, kh, ks, vb, vh, vs, gb, gh, gs, gd,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    q = rows(Q, b, h, m, Sq, qb, qh, qs, 1, D, BD)
    g = rows(G, b, h, m, Sq, gb, gh, gs, gd, D, BD)
    lse = tl.load(L + (b * H + h) * Sq + m, mask=m < Sq, other=0.0)
    e = tl.load(E + (b * H + h) * Sq + m, mask=m < Sq, other=0.0)
    dq = tl.zeros((BM, BD), tl.float32)
    stop = Sk
    if CAUSAL:
        stop = tl.minimum(Sk, (tl.program_id(0) + 1) * BM + Sk - Sq)
    for start in range(0, stop, BN):
        n = start + tl.arange(0, BN)
        k = rows(K, b, h, n, Sk, kb, kh, ks, 1, D, BD)
        v = rows(V, b, h, n, Sk, vb, vh, vs, 1, D, BD)
        _, ds = weights(q, k, v, g, lse, e, m, n, Sq, Sk, scale, CAUSAL)
        dq += tl.dot(ds, k, input_precision="ieee")
    d = tl.arange(0, BD)
    at = ((b * H + h) * Sq + m)[:, None] * D + d[None, :]
    tl.store(DQ + at, dq * scale, mask=(m < Sq)[:, None] & (d < D)[None, :])


def flash_backward(q, k, v, o, lse, do, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.size(2)
    dq = q.new_empty((B, H, Sq, D))
    dk = q.new_empty((B, H, Sk, D))
    dv = q.new_empty((B, H, Sk, D))
    e = torch.empty((B, H, Sq), dtype=torch.float32, device=q.device)
    BD = max(16, triton.next_power_of_2(D))
    delta[triton.cdiv(Sq, 64), H, B](o, do, e, H, Sq, *o.stride()[:3], *do.stride(), D=D, BM=64, BD=BD)
    strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride())
    narrow, tall = (64, 64) if q.element_size() == 2 else (16, 32)
    if not q.is_cuda:
        narrow, tall = 64, 128
    common = {"CAUSAL": causal, "D": D, "BD": BD, "num_warps": 8, "num_stages": 2}
    for_keys[triton.cdiv(Sk, tall), H, B](
        q, k, v, do, lse, e, dk, dv, H, Sq, Sk, scale, *strides, BM=narrow, BN=tall, **common
    )
    for_queries[triton.cdiv(Sq, tall), H, B](
        q, k, v, do, lse, e, dq, H, Sq, Sk, scale, *strides, BM=tall, BN=narrow, **common
    )
    return dq, dk, dv

"""One loop for everything: a program keeps a few keys, and adds what they give to dq in memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def dots(Out, G, E, H, S, ob, oh, os, gb, gh, gs, gd, D: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr):
    bh = (tl.program_id(0) // tl.cdiv(S, BM)).to(tl.int64)
    m = tl.program_id(0) % tl.cdiv(S, BM) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    mask = (m < S)[:, None] & (d < D)[None, :]
    at_o = bh // H * ob + bh % H * oh + m[:, None].to(tl.int64) * os + d[None, :]
    at_g = bh // H * gb + bh % H * gh + m[:, None].to(tl.int64) * gs + d[None, :] * gd
    o = tl.load(Out + at_o, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(G + at_g, mask=mask, other=0.0).to(tl.float32)
    tl.store(E + bh * S + m, tl.sum(o * g, 1), mask=m < S)


@triton.jit
def all_gradients(
    Q, K, V, G, L, E, DQ, DK, DV, H, Sq, Sk, scale,
    qb, qh, qs, kb, kh, ks, vb, vh, vs, gb, gh, gs, gd,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    bh = (tl.program_id(0) // tl.cdiv(Sk, BN)).to(tl.int64)
    b, h = bh // H, bh % H
    first = tl.program_id(0) % tl.cdiv(Sk, BN) * BN
    n = first + tl.arange(0, BN)
    d = tl.arange(0, BD)
    keys = (n < Sk)[:, None] & (d < D)[None, :]
    k = tl.load(K + b * kb + h * kh + n[:, None].to(tl.int64) * ks + d[None, :], mask=keys, other=0.0)
    v = tl.load(V + b * vb + h * vh + n[:, None].to(tl.int64) * vs + d[None, :], mask=keys, other=0.0)
    dk = tl.zeros((BN, BD), tl.float32)
    dv = tl.zeros((BN, BD), tl.float32)
    start = 0
    if CAUSAL:
        start = tl.maximum(first + Sq - Sk, 0) // BM * BM
    for start_m in range(start, Sq, BM):
        m = start_m + tl.arange(0, BM)
        there = (m < Sq)[:, None] & (d < D)[None, :]
        q = tl.load(Q + b * qb + h * qh + m[:, None].to(tl.int64) * qs + d[None, :], mask=there, other=0.0)
        g = tl.load(
            G + b * gb + h * gh + m[:, None].to(tl.int64) * gs + d[None, :] * gd, mask=there, other=0.0
        )
        lse = tl.load(L + bh * Sq + m, mask=m < Sq, other=0.0)
        e = tl.load(E + bh * Sq + m, mask=m < Sq, other=0.0)
        seen = (m < Sq)[:, None] & (n < Sk)[None, :]
        if CAUSAL:
            seen = seen & (n[None, :] <= m[:, None] + Sk - Sq)
        p = tl.where(seen, tl.exp(tl.dot(q, k.T, input_precision="ieee") * scale - lse[:, None]), 0.0)
        ds = (p * (tl.dot(g, v.T, input_precision="ieee") - e[:, None])).to(q.dtype)
        dv += tl.dot(p.to(q.dtype).T, g, input_precision="ieee")
        dk += tl.dot(ds.T, q, input_precision="ieee")
        dq = tl.dot(ds, k, input_precision="ieee") * scale
        tl.atomic_add(DQ + (bh * Sq + m)[:, None] * D + d[None, :], dq, mask=there)
    at = (bh * Sk + n)[:, None] * D + d[None, :]
    tl.store(DK + at, (dk * scale).to(DK.dtype.element_ty), mask=keys)
    tl.store(DV + at, dv.to(DV.dtype.element_ty), mask=keys)


@triton.jit
def convert(X, Y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(Y + i, tl.load(X + i, mask=i < n, other=0.0).to(Y.dtype.element_ty), mask=i < n)


def flash_backward(q, k, v, o, lse, do, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    dq = torch.empty((B, H, Sq, D), dtype=q.dtype, device=q.device)
    dk = torch.empty((B, H, Sk, D), dtype=q.dtype, device=q.device)
    dv = torch.empty((B, H, Sk, D), dtype=q.dtype, device=q.device)
    added = torch.zeros((B, H, Sq, D), dtype=torch.float32, device=q.device)
    delta = torch.empty((B, H, Sq), dtype=torch.float32, device=q.device)
    BD = max(16, triton.next_power_of_2(D))
    dots[(triton.cdiv(Sq, 64) * B * H,)](
        o, do, delta, H, Sq, *o.stride()[:3], *do.stride(), D=D, BM=64, BD=BD
    )  # fmt: skip
    BM, BN = (32, 16) if q.is_cuda else (64, 128)
    all_gradients[(triton.cdiv(Sk, BN) * B * H,)](
        q, k, v, do, lse, delta, added, dk, dv, H, Sq, Sk, scale,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride(),
        CAUSAL=causal, D=D, BM=BM, BN=BN, BD=BD, num_warps=4, num_stages=1,
    )  # fmt: skip
    convert[(triton.cdiv(dq.numel(), 4096),)](added, dq, dq.numel(), BLOCK=4096)
    return dq, dk, dv

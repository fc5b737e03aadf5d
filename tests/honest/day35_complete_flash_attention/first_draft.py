"""A first draft: masks in every tile, natural exponentials, and a grid of blocks, heads and batches."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile(X, b, h, rows, n, sb, sh, ss, sd, D: tl.constexpr, BD: tl.constexpr):
    d = tl.arange(0, BD)
    ptrs = X + b * sb + h * sh + rows[:, None].to(tl.int64) * ss + d[None, :] * sd
    return tl.load(ptrs, mask=(rows[:, None] < n) & (d[None, :] < D), other=0.0)


@triton.jit
def put(X, x, head, rows, n, D: tl.constexpr, BD: tl.constexpr):
    d = tl.arange(0, BD)
    tl.store(X + (head * n + rows)[:, None] * D + d[None, :], x, mask=(rows[:, None] < n) & (d[None, :] < D))


@triton.jit
def scores(q, k, i, j, Sq, Sk, scale, IS_CAUSAL: tl.constexpr):
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    seen = (i[:, None] < Sq) & (j[None, :] < Sk)
    if IS_CAUSAL:
        seen = seen & (j[None, :] <= i[:, None] + Sk - Sq)
    return tl.where(seen, s, float("-inf"))


@triton.jit
def attend(
    Q, K, V, Out, Lse, G, Sq, Sk, scale, qb, qh, qs, qd, kb, kh, ks, kd, vb, vh, vs, vd,
    IS_CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    h = tl.program_id(1).to(tl.int64)
    b = tl.program_id(2).to(tl.int64)
    q = tile(Q, b, h, i, Sq, qb, qh, qs, qd, D, BD)
    peak = tl.full([BM], float("-inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    out = tl.zeros([BM, BD], tl.float32)
    stop = Sk
    if IS_CAUSAL:
        stop = tl.minimum(stop, (tl.program_id(0) + 1) * BM + Sk - Sq)
    for start in range(0, stop, BN):
        j = start + tl.arange(0, BN)
        k = tile(K, b, h // G, j, Sk, kb, kh, ks, kd, D, BD)
        v = tile(V, b, h // G, j, Sk, vb, vh, vs, vd, D, BD)
        s = scores(q, k, i, j, Sq, Sk, scale, IS_CAUSAL)
        higher = tl.maximum(peak, tl.max(s, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        w = tl.exp(s - base[:, None])
        shrink = tl.exp(peak - base)
        norm = norm * shrink + tl.sum(w, 1)
        out = out * shrink[:, None] + tl.dot(w.to(v.dtype), v, input_precision="ieee")
        peak = higher
    empty = norm == 0.0
    head = b * tl.num_programs(1) + h
    put(Out, tl.where(empty[:, None], 0.0, out / tl.where(empty, 1.0, norm)[:, None]), head, i, Sq, D, BD)
    # +inf for rows without keys: their weights come out as exp(-inf) = 0 in the backward pass.
    lse = tl.where(empty, float("inf"), peak + tl.log(tl.where(empty, 1.0, norm)))
    tl.store(Lse + head * Sq + i, lse, mask=i < Sq)


@triton.jit
def row_dots(Out, dOut, Delta, H, Sq, ob, oh, os, od, D: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1).to(tl.int64)
    o = tile(Out, 0, head, i, Sq, 0, Sq * D, D, 1, D, BD).to(tl.float32)
    g = tile(dOut, head // H, head % H, i, Sq, ob, oh, os, od, D, BD).to(tl.float32)
    tl.store(Delta + head * Sq + i, tl.sum(o * g, 1), mask=i < Sq)


@triton.jit
def dq_rows(
    Q, K, V, dOut, Lse, Delta, dQ, G, Sq, Sk, scale,
    qb, qh, qs, qd, kb, kh, ks, kd, vb, vh, vs, vd, ob, oh, os, od,
    IS_CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    h = tl.program_id(1).to(tl.int64)
    b = tl.program_id(2).to(tl.int64)
    head = b * tl.num_programs(1) + h
    q = tile(Q, b, h, i, Sq, qb, qh, qs, qd, D, BD)
    g = tile(dOut, b, h, i, Sq, ob, oh, os, od, D, BD)
    lse = tl.load(Lse + head * Sq + i, mask=i < Sq, other=0.0)
    delta = tl.load(Delta + head * Sq + i, mask=i < Sq, other=0.0)
    dq = tl.zeros([BM, BD], tl.float32)
    stop = Sk
    if IS_CAUSAL:
        stop = tl.minimum(stop, (tl.program_id(0) + 1) * BM + Sk - Sq)
    for start in range(0, stop, BN):
        j = start + tl.arange(0, BN)
        k = tile(K, b, h // G, j, Sk, kb, kh, ks, kd, D, BD)
        v = tile(V, b, h // G, j, Sk, vb, vh, vs, vd, D, BD)
        p = tl.exp(scores(q, k, i, j, Sq, Sk, scale, IS_CAUSAL) - lse[:, None])
        ds = p * (tl.dot(g, tl.trans(v), input_precision="ieee") - delta[:, None]) * scale
        dq += tl.dot(ds.to(k.dtype), k, input_precision="ieee")
    put(dQ, dq, head, i, Sq, D, BD)


@triton.jit
def dkdv_rows(
    Q, K, V, dOut, Lse, Delta, dK, dV, G, Sq, Sk, scale,
    qb, qh, qs, qd, kb, kh, ks, kd, vb, vh, vs, vd, ob, oh, os, od,
    IS_CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    j = tl.program_id(0) * BN + tl.arange(0, BN)
    kv = tl.program_id(1).to(tl.int64)
    b = tl.program_id(2).to(tl.int64)
    k = tile(K, b, kv, j, Sk, kb, kh, ks, kd, D, BD)
    v = tile(V, b, kv, j, Sk, vb, vh, vs, vd, D, BD)
    dk = tl.zeros([BN, BD], tl.float32)
    dv = tl.zeros([BN, BD], tl.float32)
    begin = 0
    if IS_CAUSAL:
        begin = tl.maximum(tl.program_id(0) * BN + Sq - Sk, 0) // BM * BM
    # One loop over the queries of all heads of the group, as if they were one long head.
    each = tl.cdiv(tl.maximum(Sq - begin, 0), BM)
    for step in range(0, G * each):
        h = kv * G + step // each
        head = b * tl.num_programs(1) * G + h
        i = begin + step % each * BM + tl.arange(0, BM)
        q = tile(Q, b, h, i, Sq, qb, qh, qs, qd, D, BD)
        g = tile(dOut, b, h, i, Sq, ob, oh, os, od, D, BD)
        lse = tl.load(Lse + head * Sq + i, mask=i < Sq, other=0.0)
        delta = tl.load(Delta + head * Sq + i, mask=i < Sq, other=0.0)
        p = tl.exp(scores(q, k, i, j, Sq, Sk, scale, IS_CAUSAL) - lse[:, None])
        dv += tl.dot(tl.trans(p.to(g.dtype)), g, input_precision="ieee")
        ds = p * (tl.dot(g, tl.trans(v), input_precision="ieee") - delta[:, None]) * scale
        dk += tl.dot(tl.trans(ds.to(q.dtype)), q, input_precision="ieee")
    put(dK, dk, b * tl.num_programs(1) + kv, j, Sk, D, BD)
    put(dV, dv, b * tl.num_programs(1) + kv, j, Sk, D, BD)


def shape(q):
    D = q.shape[3]
    BM, BN = (64, 64) if q.element_size() == 2 or not q.is_cuda else (32, 32)
    return {
        "D": D,
        "BM": BM,
        "BN": BN,
        "BD": max(16, triton.next_power_of_2(D)),
        "num_warps": 4 if D <= 64 else 8,
    }


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, scale, causal):
        B, H, Sq, D = q.shape
        Sk = k.shape[2]
        o = torch.empty((B, H, Sq, D), dtype=q.dtype, device=q.device)
        lse = torch.empty((B, H, Sq), dtype=torch.float32, device=q.device)
        s = shape(q)
        attend[(triton.cdiv(Sq, s["BM"]), H, B)](
            q, k, v, o, lse, H // k.shape[1], Sq, Sk, scale, *q.stride(), *k.stride(), *v.stride(),
            IS_CAUSAL=causal, num_stages=2, **s,
        )  # fmt: skip
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.given = scale, causal
        return o

    @staticmethod
    def backward(ctx, g):
        q, k, v, o, lse = ctx.saved_tensors
        scale, causal = ctx.given
        B, H, Sq, D = q.shape
        Hk, Sk = k.shape[1:3]
        s = shape(q)
        delta = torch.empty_like(lse)
        row_dots[(triton.cdiv(Sq, 64), B * H)](o, g, delta, H, Sq, *g.stride(), D=D, BM=64, BD=s["BD"])
        dq = torch.empty((B, H, Sq, D), dtype=q.dtype, device=q.device)
        dk, dv = (torch.empty((B, Hk, Sk, D), dtype=x.dtype, device=x.device) for x in (k, v))
        strides = (*q.stride(), *k.stride(), *v.stride(), *g.stride())
        more = {"IS_CAUSAL": causal, "num_stages": 1, **s}
        sizes = (H // Hk, Sq, Sk, scale)
        dq_rows[(triton.cdiv(Sq, s["BM"]), H, B)](q, k, v, g, lse, delta, dq, *sizes, *strides, **more)
        dkdv_rows[(triton.cdiv(Sk, s["BN"]), Hk, B)](
            q, k, v, g, lse, delta, dk, dv, *sizes, *strides, **more
        )  # fmt: skip
        return dq, dk, dv, None, None


def flash_attention(q, k, v, scale, causal):
    return Attend.apply(q, k, v, scale, causal)

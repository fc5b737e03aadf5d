"""Grouped flash attention made of the given tiles, heads and batch on axes 1 and 2, int32 head offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl
from tiles import attend, dscores, keys_seen, load_rows, store_rows

MIN = tl.constexpr(-3.4028234663852886e38)


@triton.jit
def fwd_kernel(
    Q, K, V, O, L, Sq, Sk, scale, sq0, sq1, sq2, sq3, sk0, sk1, sk2, sk3, sv0, sv1, sv2, sv3,  # noqa: E741
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(2), tl.program_id(1)
    bh = b * tl.num_programs(1) + h
    start_m = tl.program_id(0) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    seen = keys_seen(offs_m, Sq, Sk, CAUSAL)
    q = load_rows(Q + b * sq0 + h * sq1, start_m, Sq, sq2, sq3, D, BLOCK_M, BLOCK_D)
    K += b * sk0 + h // GROUP * sk1
    V += b * sv0 + h // GROUP * sv1
    m = tl.full((BLOCK_M,), MIN, tl.float32)
    denom = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start_n in tl.range(0, tl.max(seen, 0), BLOCK_N):
        k = load_rows(K, start_n, Sk, sk2, sk3, D, BLOCK_N, BLOCK_D)
        v = load_rows(V, start_n, Sk, sv2, sv3, D, BLOCK_N, BLOCK_D)
        keep = (start_n + tl.arange(0, BLOCK_N))[None, :] < seen[:, None]
        m, denom, acc = attend(q, k, v, keep, scale, m, denom, acc)
    acc = tl.where((denom == 0)[:, None], 0.0, acc / denom[:, None])
    store_rows(O + bh * Sq * D, acc.to(O.dtype.element_ty), start_m, Sq, D, BLOCK_M, BLOCK_D)
    tl.store(L + bh * Sq + offs_m, m + tl.log2(denom), mask=offs_m < Sq)


@triton.jit
def bwd_kernel(
    Q, K, V, DO, L, O, Delta, DQ, DK, DV, Sq, Sk, scale,  # noqa: E741
    sq0, sq1, sq2, sq3, sk0, sk1, sk2, sk3, sv0, sv1, sv2, sv3, sd0, sd1, sd2, sd3,
    QUERIES: tl.constexpr, GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(2), tl.program_id(1)
    bh = b * tl.num_programs(1) + h
    start = tl.program_id(0) * BLOCK
    mine = start + tl.arange(0, BLOCK)
    if QUERIES:
        seen = keys_seen(mine, Sq, Sk, CAUSAL)
        q = load_rows(Q + b * sq0 + h * sq1, start, Sq, sq2, sq3, D, BLOCK, BLOCK_D)
        do = load_rows(DO + b * sd0 + h * sd1, start, Sq, sd2, sd3, D, BLOCK, BLOCK_D)
        o = load_rows(O + bh * Sq * D, start, Sq, D, 1, D, BLOCK, BLOCK_D)
        di = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
        tl.store(Delta + bh * Sq + mine, di, mask=mine < Sq)
        lse = tl.load(L + bh * Sq + mine, mask=mine < Sq, other=0.0)
        dq = tl.zeros((BLOCK, BLOCK_D), tl.float32)
        K += b * sk0 + h // GROUP * sk1
        V += b * sv0 + h // GROUP * sv1
        for n in range(0, tl.max(seen, 0), STEP):
            k = load_rows(K, n, Sk, sk2, sk3, D, STEP, BLOCK_D)
            v = load_rows(V, n, Sk, sv2, sv3, D, STEP, BLOCK_D)
            keep = (n + tl.arange(0, STEP))[None, :] < seen[:, None]
            _, ds = dscores(q, do, k, v, lse[:, None], di[:, None], keep, scale)
            dq += tl.dot(ds.to(k.dtype), k, input_precision="ieee")
        store_rows(DQ + bh * Sq * D, (dq * scale).to(DQ.dtype.element_ty), start, Sq, D, BLOCK, BLOCK_D)
    else:
        k = load_rows(K + b * sk0 + h * sk1, start, Sk, sk2, sk3, D, BLOCK, BLOCK_D)
        v = load_rows(V + b * sv0 + h * sv1, start, Sk, sv2, sv3, D, BLOCK, BLOCK_D)
        dk = tl.zeros((BLOCK, BLOCK_D), tl.float32)
        dv = tl.zeros((BLOCK, BLOCK_D), tl.float32)
        first = 0
        if CAUSAL:
            first = tl.maximum(start + Sq - Sk, 0)
        for g in tl.static_range(GROUP):
            head = h * GROUP + g
            Q_h, DO_h = Q + b * sq0 + head * sq1, DO + b * sd0 + head * sd1
            for m in range(first, Sq, STEP):
                offs = m + tl.arange(0, STEP)
                q = load_rows(Q_h, m, Sq, sq2, sq3, D, STEP, BLOCK_D)
                do = load_rows(DO_h, m, Sq, sd2, sd3, D, STEP, BLOCK_D)
                lse = tl.load(L + (bh * GROUP + g) * Sq + offs, mask=offs < Sq, other=0.0)
                di = tl.load(Delta + (bh * GROUP + g) * Sq + offs, mask=offs < Sq, other=0.0)
                keep = (mine[:, None] < keys_seen(offs, Sq, Sk, CAUSAL)[None, :]) & (offs < Sq)[None, :]
                p, ds = dscores(k, v, q, do, lse[None, :], di[None, :], keep, scale)
                dv += tl.dot(p.to(do.dtype), do, input_precision="ieee")
                dk += tl.dot(ds.to(q.dtype), q, input_precision="ieee")
        store_rows(DK + bh * Sk * D, (dk * scale).to(DK.dtype.element_ty), start, Sk, D, BLOCK, BLOCK_D)
        store_rows(DV + bh * Sk * D, dv.to(DV.dtype.element_ty), start, Sk, D, BLOCK, BLOCK_D)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, scale, causal):
        (B, Hq, Sq, D), (Hk, Sk) = q.shape, k.shape[1:3]
        out, lse = q.new_empty(q.shape), q.new_empty(q.shape[:3], dtype=torch.float32)
        BLOCK_M, BLOCK_N = (64, 16) if q.dtype == torch.float32 else (128, 64)
        ctx.group, ctx.scale, ctx.causal = Hq // Hk, scale, causal
        fwd_kernel[(triton.cdiv(Sq, BLOCK_M), Hq, B)](
            q, k, v, out, lse, Sq, Sk, scale, *q.stride(), *k.stride(), *v.stride(),
            GROUP=Hq // Hk, CAUSAL=causal, D=D, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=max(16,
            triton.next_power_of_2(D)), num_warps=8,
        )  # fmt: skip
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, do):
        q, k, v, out, lse = ctx.saved_tensors
        (B, Hq, Sq, D), (Hk, Sk) = q.shape, k.shape[1:3]
        dq, dk, dv, delta = (
            q.new_empty(q.shape),
            k.new_empty(k.shape),
            v.new_empty(v.shape),
            torch.empty_like(lse),
        )
        BLOCK, STEP = (32, 16) if q.dtype == torch.float32 else (64, 32)
        for queries, S, H in ((True, Sq, Hq), (False, Sk, Hk)):
            bwd_kernel[(triton.cdiv(S, BLOCK), H, B)](
                q, k, v, do, lse, out, delta, dq, dk, dv, Sq, Sk, ctx.scale,
                *q.stride(), *k.stride(), *v.stride(), *do.stride(), QUERIES=queries, GROUP=ctx.group,
                CAUSAL=ctx.causal, D=D, BLOCK=BLOCK, STEP=STEP, BLOCK_D=max(16, triton.next_power_of_2(D)),
                num_warps=4,
            )  # fmt: skip
        return dq, dk, dv, None, None


def flash_attention(q, k, v, scale, causal):
    return FlashAttention.apply(q, k, v, scale, causal)

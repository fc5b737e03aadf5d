"""Grouped flash attention by block pointers, meta lambdas for grids, natural exponentials (FLA names)."""

import torch
import triton
import triton.language as tl


@triton.jit
def fwd_kernel(
    q, k, v, o, lse, scale, TQ, TK, HQ, qb, qh, qt, qd, kb, kh, kt, kd, vb, vh, vt, vd,
    CAUSAL: tl.constexpr, G: tl.constexpr, D: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i_t, i_bh = tl.program_id(1), tl.program_id(0).to(tl.int64)
    i_b, i_hq = i_bh // HQ, i_bh % HQ
    i_h = i_hq // G
    p_q = tl.make_block_ptr(q + i_b * qb + i_hq * qh, (TQ, D), (qt, qd), (i_t * BT, 0), (BT, BD), (1, 0))
    p_k = tl.make_block_ptr(k + i_b * kb + i_h * kh, (D, TK), (kd, kt), (0, 0), (BD, BS), (0, 1))
    p_v = tl.make_block_ptr(v + i_b * vb + i_h * vh, (TK, D), (vt, vd), (0, 0), (BS, BD), (1, 0))
    p_o = tl.make_block_ptr(o + i_bh * TQ * D, (TQ, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_lse = tl.make_block_ptr(lse + i_bh * TQ, (TQ,), (1,), (i_t * BT,), (BT,), (0,))
    b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
    b_o = tl.zeros([BT, BD], dtype=tl.float32)
    b_m = tl.full([BT], float("-inf"), dtype=tl.float32)
    b_acc = tl.zeros([BT], dtype=tl.float32)
    o_q = i_t * BT + tl.arange(0, BT)
    end = tl.minimum((i_t + 1) * BT + TK - TQ, TK) if CAUSAL else TK
    for i_s in range(0, end, BS):
        b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
        b_v = tl.load(p_v, boundary_check=(0, 1), padding_option="zero")
        o_k = i_s + tl.arange(0, BS)
        b_s = tl.dot(b_q, b_k, input_precision="ieee") * scale
        m_s = (o_k < TK)[None, :]
        if CAUSAL:
            m_s = m_s & ((o_q + TK - TQ)[:, None] >= o_k[None, :])
        b_s = tl.where(m_s, b_s, float("-inf"))
        b_m, b_mp = tl.maximum(b_m, tl.max(b_s, 1)), b_m
        b_r = tl.where(b_m == float("-inf"), 1.0, tl.exp(b_mp - b_m))
        b_p = tl.exp(b_s - tl.where(b_m == float("-inf"), 0.0, b_m)[:, None])
        b_acc = b_acc * b_r + tl.sum(b_p, 1)
        b_o = b_o * b_r[:, None] + tl.dot(b_p.to(b_v.dtype), b_v, input_precision="ieee")
        p_k, p_v = tl.advance(p_k, (0, BS)), tl.advance(p_v, (BS, 0))
    b_o = tl.where(b_acc[:, None] == 0, 0.0, b_o / b_acc[:, None])
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))
    tl.store(p_lse, b_m + tl.log(b_acc), boundary_check=(0,))


@triton.jit
def bwd_dq_kernel(
    q, k, v, o, lse, do, delta, dq, scale, TQ, TK, HQ,
    qb, qh, qt, qd, kb, kh, kt, kd, vb, vh, vt, vd, db, dh, dt, dd,
    CAUSAL: tl.constexpr, G: tl.constexpr, D: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i_t, i_bh = tl.program_id(1), tl.program_id(0).to(tl.int64)
    i_b, i_hq = i_bh // HQ, i_bh % HQ
    i_h = i_hq // G
    p_q = tl.make_block_ptr(q + i_b * qb + i_hq * qh, (TQ, D), (qt, qd), (i_t * BT, 0), (BT, BD), (1, 0))
    p_do = tl.make_block_ptr(do + i_b * db + i_hq * dh, (TQ, D), (dt, dd), (i_t * BT, 0), (BT, BD), (1, 0))
    p_o = tl.make_block_ptr(o + i_bh * TQ * D, (TQ, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dq = tl.make_block_ptr(dq + i_bh * TQ * D, (TQ, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_k = tl.make_block_ptr(k + i_b * kb + i_h * kh, (D, TK), (kd, kt), (0, 0), (BD, BS), (0, 1))
    p_v = tl.make_block_ptr(v + i_b * vb + i_h * vh, (D, TK), (vd, vt), (0, 0), (BD, BS), (0, 1))
    p_lse = tl.make_block_ptr(lse + i_bh * TQ, (TQ,), (1,), (i_t * BT,), (BT,), (0,))
    p_delta = tl.make_block_ptr(delta + i_bh * TQ, (TQ,), (1,), (i_t * BT,), (BT,), (0,))
    b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
    b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero")
    b_o = tl.load(p_o, boundary_check=(0, 1), padding_option="zero")
    b_lse = tl.load(p_lse, boundary_check=(0,), padding_option="zero")
    b_delta = tl.sum(b_o.to(tl.float32) * b_do.to(tl.float32), 1)
    tl.store(p_delta, b_delta, boundary_check=(0,))
    b_dq = tl.zeros([BT, BD], dtype=tl.float32)
    o_q = i_t * BT + tl.arange(0, BT)
    end = tl.minimum((i_t + 1) * BT + TK - TQ, TK) if CAUSAL else TK
    for i_s in range(0, end, BS):
        b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
        b_v = tl.load(p_v, boundary_check=(0, 1), padding_option="zero")
        o_k = i_s + tl.arange(0, BS)
        m_s = (o_k < TK)[None, :]
        if CAUSAL:
            m_s = m_s & ((o_q + TK - TQ)[:, None] >= o_k[None, :])
        b_s = tl.dot(b_q, b_k, input_precision="ieee") * scale
        b_p = tl.where(m_s, tl.exp(b_s - b_lse[:, None]), 0.0)
        b_ds = b_p * (tl.dot(b_do, b_v, input_precision="ieee") - b_delta[:, None])
        b_dq += tl.dot(b_ds.to(b_k.dtype), tl.trans(b_k), input_precision="ieee")
        p_k, p_v = tl.advance(p_k, (0, BS)), tl.advance(p_v, (0, BS))
    tl.store(p_dq, (b_dq * scale).to(p_dq.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def bwd_dkv_kernel(
    q, k, v, lse, do, delta, dk, dv, scale, TQ, TK, H,
    qb, qh, qt, qd, kb, kh, kt, kd, vb, vh, vt, vd, db, dh, dt, dd,
    CAUSAL: tl.constexpr, G: tl.constexpr, D: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i_t, i_bh = tl.program_id(1), tl.program_id(0).to(tl.int64)
    i_b, i_h = i_bh // H, i_bh % H
    p_k = tl.make_block_ptr(k + i_b * kb + i_h * kh, (TK, D), (kt, kd), (i_t * BT, 0), (BT, BD), (1, 0))
    p_v = tl.make_block_ptr(v + i_b * vb + i_h * vh, (TK, D), (vt, vd), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dk = tl.make_block_ptr(dk + i_bh * TK * D, (TK, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dv = tl.make_block_ptr(dv + i_bh * TK * D, (TK, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
    b_v = tl.load(p_v, boundary_check=(0, 1), padding_option="zero")
    b_dk = tl.zeros([BT, BD], dtype=tl.float32)
    b_dv = tl.zeros([BT, BD], dtype=tl.float32)
    o_k = i_t * BT + tl.arange(0, BT)
    first = tl.maximum(i_t * BT + TQ - TK, 0) // BS * BS if CAUSAL else 0
    for g in range(G):
        i_hq = i_h * G + g
        p_q = tl.make_block_ptr(q + i_b * qb + i_hq * qh, (TQ, D), (qt, qd), (first, 0), (BS, BD), (1, 0))
        p_do = tl.make_block_ptr(do + i_b * db + i_hq * dh, (TQ, D), (dt, dd), (first, 0), (BS, BD), (1, 0))
        p_lse = tl.make_block_ptr(lse + (i_bh * G + g) * TQ, (TQ,), (1,), (first,), (BS,), (0,))
        p_delta = tl.make_block_ptr(delta + (i_bh * G + g) * TQ, (TQ,), (1,), (first,), (BS,), (0,))
        for i_s in range(first, TQ, BS):
            b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
            b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero")
            b_lse = tl.load(p_lse, boundary_check=(0,), padding_option="zero")
            b_delta = tl.load(p_delta, boundary_check=(0,), padding_option="zero")
            o_q = i_s + tl.arange(0, BS)
            m_s = (o_q < TQ)[None, :]
            if CAUSAL:
                m_s = m_s & ((o_q + TK - TQ)[None, :] >= o_k[:, None])
            b_s = tl.dot(b_k, tl.trans(b_q), input_precision="ieee") * scale
            b_p = tl.where(m_s, tl.exp(b_s - b_lse[None, :]), 0.0)
            b_dv += tl.dot(b_p.to(b_do.dtype), b_do, input_precision="ieee")
            b_ds = b_p * (tl.dot(b_v, tl.trans(b_do), input_precision="ieee") - b_delta[None, :])
            b_dk += tl.dot(b_ds.to(b_q.dtype), b_q, input_precision="ieee")
            p_q, p_do = tl.advance(p_q, (BS, 0)), tl.advance(p_do, (BS, 0))
            p_lse, p_delta = tl.advance(p_lse, (BS,)), tl.advance(p_delta, (BS,))
    tl.store(p_dk, (b_dk * scale).to(p_dk.dtype.element_ty), boundary_check=(0, 1))
    tl.store(p_dv, b_dv.to(p_dv.dtype.element_ty), boundary_check=(0, 1))


class ParallelAttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, scale, causal):
        (B, HQ, TQ, D), (H, TK) = q.shape, k.shape[1:3]
        o = torch.empty(B, HQ, TQ, D, dtype=q.dtype, device=q.device)
        lse = torch.empty(B, HQ, TQ, dtype=torch.float, device=q.device)
        BT, BS = (32, 32) if q.dtype == torch.float else (128, 64)
        fwd_kernel[lambda meta: (B * HQ, triton.cdiv(TQ, meta["BT"]))](
            q, k, v, o, lse, scale, TQ, TK, HQ, *q.stride(), *k.stride(), *v.stride(),
            CAUSAL=causal, G=HQ // H, D=D, BT=BT, BS=BS, BD=max(16, triton.next_power_of_2(D)),
            num_warps=8, num_stages=2,
        )  # fmt: skip
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.scale, ctx.causal = scale, causal
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, o, lse = ctx.saved_tensors
        (B, HQ, TQ, D), (H, TK) = q.shape, k.shape[1:3]
        dq = torch.empty(B, HQ, TQ, D, dtype=q.dtype, device=q.device)
        dk = torch.empty(B, H, TK, D, dtype=k.dtype, device=q.device)
        dv = torch.empty(B, H, TK, D, dtype=v.dtype, device=q.device)
        delta = torch.empty(B, HQ, TQ, dtype=torch.float, device=q.device)
        BT, BS = (32, 16) if q.dtype == torch.float else (64, 32)
        BD = max(16, triton.next_power_of_2(D))
        meta = {"CAUSAL": ctx.causal, "G": HQ // H, "D": D, "BT": BT, "BS": BS, "BD": BD, "num_warps": 4}
        strides = *q.stride(), *k.stride(), *v.stride(), *do.stride()
        bwd_dq_kernel[lambda meta: (B * HQ, triton.cdiv(TQ, meta["BT"]))](
            q, k, v, o, lse, do, delta, dq, ctx.scale, TQ, TK, HQ, *strides, **meta
        )
        bwd_dkv_kernel[lambda meta: (B * H, triton.cdiv(TK, meta["BT"]))](
            q, k, v, lse, do, delta, dk, dv, ctx.scale, TQ, TK, H, *strides, **meta
        )
        return dq, dk, dv, None, None


def flash_attention(q, k, v, scale, causal):
    return ParallelAttentionFunction.apply(q, k, v, scale, causal)

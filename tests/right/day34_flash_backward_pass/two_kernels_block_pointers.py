"""Flash backward in three kernels by block pointers, heads and batch on axes 1 and 2, as FLA names things.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def bwd_preprocess(o, do, delta, T, s_ob, s_oh, s_ot, s_db, s_dh, s_dt, s_dd,
                   D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):  # fmt: skip
    i_t, i_h, i_b = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    p_o = tl.make_block_ptr(o + i_b * s_ob + i_h * s_oh, (T, D), (s_ot, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_do = tl.make_block_ptr(
        do + i_b * s_db + i_h * s_dh, (T, D), (s_dt, s_dd), (i_t * BT, 0), (BT, BD), (1, 0)
    )
    b_o = tl.load(p_o, boundary_check=(0, 1), padding_option="zero")
    b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero")
    p_delta = delta + (i_b * tl.num_programs(1) + i_h) * T
    p_delta = tl.make_block_ptr(p_delta, (T,), (1,), (i_t * BT,), (BT,), (0,))
    tl.store(p_delta, tl.sum(b_o.to(tl.float32) * b_do.to(tl.float32), 1), boundary_check=(0,))


@triton.jit
def bwd_kernel_dq(
    q, k, v, lse, delta, do, dq, scale, TQ, TK, s_qb, s_qh, s_qt, s_kb, s_kh, s_kt, s_vb, s_vh, s_vt,
    s_db, s_dh, s_dt, s_dd, CAUSAL: tl.constexpr, D: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i_t, i_h, i_b = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    i_bh = i_b * tl.num_programs(1) + i_h
    p_q = tl.make_block_ptr(q + i_b * s_qb + i_h * s_qh, (TQ, D), (s_qt, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_do = tl.make_block_ptr(
        do + i_b * s_db + i_h * s_dh, (TQ, D), (s_dt, s_dd), (i_t * BT, 0), (BT, BD), (1, 0)
    )
    p_dq = tl.make_block_ptr(dq + i_bh * TQ * D, (TQ, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_k = tl.make_block_ptr(k + i_b * s_kb + i_h * s_kh, (D, TK), (1, s_kt), (0, 0), (BD, BS), (0, 1))
    p_v = tl.make_block_ptr(v + i_b * s_vb + i_h * s_vh, (D, TK), (1, s_vt), (0, 0), (BD, BS), (0, 1))
    b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
    b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero")
    o_q = i_t * BT + tl.arange(0, BT)
    b_lse = tl.load(lse + i_bh * TQ + o_q, mask=o_q < TQ, other=0.0)
    b_delta = tl.load(delta + i_bh * TQ + o_q, mask=o_q < TQ, other=0.0)
    b_dq = tl.zeros([BT, BD], dtype=tl.float32)
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
        b_dp = tl.dot(b_do, b_v, input_precision="ieee")
        b_ds = b_p * (b_dp - b_delta[:, None])
        b_dq += tl.dot(b_ds.to(b_k.dtype), tl.trans(b_k), input_precision="ieee")
        p_k, p_v = tl.advance(p_k, (0, BS)), tl.advance(p_v, (0, BS))
    b_dq *= scale
    tl.store(p_dq, b_dq.to(p_dq.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def bwd_kernel_dkv(
    q, k, v, lse, delta, do, dk, dv, scale, TQ, TK, s_qb, s_qh, s_qt, s_kb, s_kh, s_kt, s_vb, s_vh, s_vt,
    s_db, s_dh, s_dt, s_dd, CAUSAL: tl.constexpr, D: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    i_t, i_h, i_b = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    i_bh = i_b * tl.num_programs(1) + i_h
    p_k = tl.make_block_ptr(k + i_b * s_kb + i_h * s_kh, (TK, D), (s_kt, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_v = tl.make_block_ptr(v + i_b * s_vb + i_h * s_vh, (TK, D), (s_vt, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dk = tl.make_block_ptr(dk + i_bh * TK * D, (TK, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dv = tl.make_block_ptr(dv + i_bh * TK * D, (TK, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
    b_v = tl.load(p_v, boundary_check=(0, 1), padding_option="zero")
    o_k = i_t * BT + tl.arange(0, BT)
    b_dk = tl.zeros([BT, BD], dtype=tl.float32)
    b_dv = tl.zeros([BT, BD], dtype=tl.float32)
    first = tl.maximum(i_t * BT + TQ - TK, 0) // BS * BS if CAUSAL else 0
    p_q = tl.make_block_ptr(q + i_b * s_qb + i_h * s_qh, (TQ, D), (s_qt, 1), (first, 0), (BS, BD), (1, 0))
    p_do = tl.make_block_ptr(
        do + i_b * s_db + i_h * s_dh, (TQ, D), (s_dt, s_dd), (first, 0), (BS, BD), (1, 0)
    )
    for i_s in range(first, TQ, BS):
        b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
        b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero")
        o_q = i_s + tl.arange(0, BS)
        b_lse = tl.load(lse + i_bh * TQ + o_q, mask=o_q < TQ, other=0.0)
        b_delta = tl.load(delta + i_bh * TQ + o_q, mask=o_q < TQ, other=0.0)
        m_s = (o_q < TQ)[None, :]
        if CAUSAL:
            m_s = m_s & ((o_q + TK - TQ)[None, :] >= o_k[:, None])
        b_s = tl.dot(b_k, tl.trans(b_q), input_precision="ieee") * scale
        b_p = tl.where(m_s, tl.exp(b_s - b_lse[None, :]), 0.0)
        b_dv += tl.dot(b_p.to(b_do.dtype), b_do, input_precision="ieee")
        b_dp = tl.dot(b_v, tl.trans(b_do), input_precision="ieee")
        b_ds = b_p * (b_dp - b_delta[None, :])
        b_dk += tl.dot(b_ds.to(b_q.dtype), b_q, input_precision="ieee")
        p_q, p_do = tl.advance(p_q, (BS, 0)), tl.advance(p_do, (BS, 0))
    tl.store(p_dk, (b_dk * scale).to(p_dk.dtype.element_ty), boundary_check=(0, 1))
    tl.store(p_dv, b_dv.to(p_dv.dtype.element_ty), boundary_check=(0, 1))


def flash_backward(q, k, v, o, lse, do, scale, causal):
    B, H, TQ, D = q.shape
    TK = k.shape[2]
    dq, dk, dv = (
        torch.empty(B, H, TQ, D, dtype=q.dtype, device=q.device),
        k.new_empty(k.shape),
        v.new_empty(v.shape),
    )
    delta = torch.empty(B, H, TQ, dtype=torch.float, device=q.device)
    BD = max(16, triton.next_power_of_2(D))
    bwd_preprocess[(triton.cdiv(TQ, 64), H, B)](
        o, do, delta, TQ, *o.stride()[:3], *do.stride(), D=D, BT=64, BD=BD
    )
    BT, BS = (32, 16) if q.dtype == torch.float else (64, 32)
    strides = *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()
    meta = dict(CAUSAL=causal, D=D, BT=BT, BS=BS, BD=BD, num_warps=4, num_stages=3)
    bwd_kernel_dq[(triton.cdiv(TQ, BT), H, B)](q, k, v, lse, delta, do, dq, scale, TQ, TK, *strides, **meta)
    bwd_kernel_dkv[(triton.cdiv(TK, BT), H, B)](
        q, k, v, lse, delta, do, dk, dv, scale, TQ, TK, *strides, **meta
    )
    return dq, dk, dv

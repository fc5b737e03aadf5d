"""Block pointers throughout: a program owns queries and walks along all keys, storing dS as it goes; exp2."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def bwd_preprocess(o, do, delta, T, s_ob, s_oh, s_ot, s_db, s_dh, s_dt, H,
                   D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):  # fmt: skip
    NT = tl.cdiv(T, BT)
    i_t, i_bh = tl.program_id(0) % NT, (tl.program_id(0) // NT).to(tl.int64)
    i_b, i_h = i_bh // H, i_bh % H
    p_o = tl.make_block_ptr(o + i_b * s_ob + i_h * s_oh, (T, D), (s_ot, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_do = tl.make_block_ptr(do + i_b * s_db + i_h * s_dh, (T, D), (s_dt, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    b_o = tl.load(p_o, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    p_delta = tl.make_block_ptr(delta + i_bh * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
    tl.store(p_delta, tl.sum(b_o * b_do, 1), boundary_check=(0,))


@triton.jit
def ds_kernel(
    q, k, v, do, lse, delta, ds, scale, H, TQ, TK,
    s_qb, s_qh, s_qt, s_kb, s_kh, s_kt, s_vb, s_vh, s_vt, s_db, s_dh, s_dt,
    CAUSAL: tl.constexpr, D: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    NT = tl.cdiv(TQ, BT)
    i_t, i_bh = tl.program_id(0) % NT, (tl.program_id(0) // NT).to(tl.int64)
    i_b, i_h = i_bh // H, i_bh % H
    p_q = tl.make_block_ptr(q + i_b * s_qb + i_h * s_qh, (TQ, D), (s_qt, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_do = tl.make_block_ptr(
        do + i_b * s_db + i_h * s_dh, (TQ, D), (s_dt, 1), (i_t * BT, 0), (BT, BD), (1, 0)
    )
    p_k = tl.make_block_ptr(k + i_b * s_kb + i_h * s_kh, (D, TK), (1, s_kt), (0, 0), (BD, BS), (0, 1))
    p_v = tl.make_block_ptr(v + i_b * s_vb + i_h * s_vh, (D, TK), (1, s_vt), (0, 0), (BD, BS), (0, 1))
    p_ds = tl.make_block_ptr(ds + i_bh * TQ * TK, (TQ, TK), (TK, 1), (i_t * BT, 0), (BT, BS), (1, 0))
    p_lse = tl.make_block_ptr(lse + i_bh * TQ, (TQ,), (1,), (i_t * BT,), (BT,), (0,))
    p_delta = tl.make_block_ptr(delta + i_bh * TQ, (TQ,), (1,), (i_t * BT,), (BT,), (0,))
    b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
    b_do = tl.load(p_do, boundary_check=(0, 1), padding_option="zero")
    b_lse = tl.load(p_lse, boundary_check=(0,), padding_option="zero")
    b_delta = tl.load(p_delta, boundary_check=(0,), padding_option="zero")
    o_q = i_t * BT + tl.arange(0, BT)
    for i_s in range(0, TK, BS):
        b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
        b_v = tl.load(p_v, boundary_check=(0, 1), padding_option="zero")
        b_s = tl.dot(b_q, b_k, input_precision="ieee") * scale
        b_p = tl.exp2((b_s - b_lse[:, None]) * LOG2E)
        b_dp = tl.dot(b_do, b_v, input_precision="ieee")
        b_ds = b_p * (b_dp - b_delta[:, None])
        if CAUSAL:
            o_k = i_s + tl.arange(0, BS)
            b_ds = tl.where((o_q + TK - TQ)[:, None] >= o_k[None, :], b_ds, 0.0)
        tl.store(p_ds, b_ds, boundary_check=(0, 1))
        p_k, p_v = tl.advance(p_k, (0, BS)), tl.advance(p_v, (0, BS))
        p_ds = tl.advance(p_ds, (0, BS))


def delta(o, do):
    B, H, T, D = o.shape
    out = torch.empty(B, H, T, dtype=torch.float, device=o.device)
    bwd_preprocess[(triton.cdiv(T, 64) * B * H,)](
        o, do, out, T, *o.stride()[:3], *do.stride()[:3], H, D=D, BT=64, BD=triton.next_power_of_2(D)
    )
    return out


def dscores(q, k, v, do, lse, delta, scale, causal):
    B, H, TQ, D = q.shape
    TK = k.shape[2]
    ds = torch.empty(B, H, TQ, TK, dtype=torch.float, device=q.device)
    BT, BS = (32, 32) if q.dtype == torch.float else (128, 64)
    ds_kernel[(triton.cdiv(TQ, BT) * B * H,)](
        q, k, v, do, lse, delta, ds, scale, H, TQ, TK,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3],
        CAUSAL=causal, D=D, BT=BT, BS=BS, BD=max(16, triton.next_power_of_2(D)), num_warps=8, num_stages=2,
    )  # fmt: skip
    return ds

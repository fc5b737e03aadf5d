"""Triton's fused attention tutorial: block pointers, tl.advance, exp2, one online pass, heads on axis 1."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attn_fwd(
    Q,
    K,
    V,
    Out,
    H,
    M,
    N,
    D,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_kd,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    qk_scale,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
):
    start_m = tl.program_id(0) * BLOCK_M
    off_hz = tl.program_id(1)
    off_z, off_h = off_hz // H, off_hz % H
    Q_block_ptr = tl.make_block_ptr(
        Q + off_z * stride_qb + off_h * stride_qh,
        (M, D),
        (stride_qm, stride_qd),
        (start_m, 0),
        (BLOCK_M, HEAD_DIM),
        (1, 0),
    )
    K_block_ptr = tl.make_block_ptr(
        K + off_z * stride_kb + off_h * stride_kh,
        (D, N),
        (stride_kd, stride_kn),
        (0, 0),
        (HEAD_DIM, BLOCK_N),
        (0, 1),
    )
    V_block_ptr = tl.make_block_ptr(
        V + off_z * stride_vb + off_h * stride_vh,
        (N, D),
        (stride_vn, stride_vd),
        (0, 0),
        (BLOCK_N, HEAD_DIM),
        (1, 0),
    )
    O_block_ptr = tl.make_block_ptr(
        Out + off_hz * M * D, (M, D), (D, 1), (start_m, 0), (BLOCK_M, HEAD_DIM), (1, 0)
    )
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    q = tl.load(Q_block_ptr, boundary_check=(0, 1), padding_option="zero")
    for start_n in range(0, N, BLOCK_N):
        k = tl.load(K_block_ptr, boundary_check=(0, 1), padding_option="zero")
        qk = tl.dot(q, k, input_precision="ieee") * qk_scale
        qk = tl.where(start_n + tl.arange(0, BLOCK_N)[None, :] < N, qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V_block_ptr, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m_i = m_ij
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
    acc = acc / l_i[:, None]
    tl.store(O_block_ptr, acc.to(Out.type.element_ty), boundary_check=(0, 1))


def attention(q, k, v, scale):
    B, H, M, D = q.shape
    N = k.shape[2]
    o = torch.empty((B, H, M, D), dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    BLOCK_M, BLOCK_N, num_warps = (128, 64, 8) if q.element_size() == 2 else (32, 32, 4)
    _attn_fwd[(triton.cdiv(M, BLOCK_M), B * H)](
        q,
        k,
        v,
        o,
        H,
        M,
        N,
        D,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        scale * 1.44269504,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        HEAD_DIM=triton.next_power_of_2(D),
        num_warps=num_warps,
        num_stages=2,
    )
    return o


def attention_bytes(S, D, itemsize):
    return itemsize * (4 * S * D + 4 * S * S)

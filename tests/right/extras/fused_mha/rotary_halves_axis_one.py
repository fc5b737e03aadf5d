"""Rotary and grouped flash attention in one kernel: two half dots, batch * heads on axis 1; int32.

May have limits.
"""

import triton
import triton.language as tl


@triton.jit
def _rotary(ptrs, cos_ptr, sin_ptr, pos, S, offs_h, HALF: tl.constexpr):
    mask = (pos < S)[:, None] & (offs_h < HALF)[None, :]
    x1 = tl.load(ptrs, mask=mask, other=0.0)
    x2 = tl.load(ptrs + HALF, mask=mask, other=0.0)
    cos = tl.load(cos_ptr + pos[:, None] * HALF + offs_h[None, :], mask=mask, other=0.0)
    sin = tl.load(sin_ptr + pos[:, None] * HALF + offs_h[None, :], mask=mask, other=0.0)
    f1, f2 = x1.to(tl.float32), x2.to(tl.float32)
    return (f1 * cos - f2 * sin).to(x1.dtype), (f2 * cos + f1 * sin).to(x1.dtype)


@triton.jit
def _mha_kernel(
    QKV, Cos, Sin, Out, sm_scale, S, H, HK, stride_b, stride_s,
    CAUSAL: tl.constexpr, D: tl.constexpr, HALF: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    start_m = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    off_b, off_h = tl.program_id(1) // H, tl.program_id(1) % H
    off_kh = off_h // (H // HK)
    Q = QKV + off_b * stride_b + off_h * D
    K = QKV + off_b * stride_b + (H + off_kh) * D
    V = QKV + off_b * stride_b + (H + HK + off_kh) * D
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_h = tl.arange(0, BLOCK_H)
    offs_d = tl.arange(0, BLOCK_D)
    q1, q2 = _rotary(Q + offs_m[:, None] * stride_s + offs_h[None, :], Cos, Sin, offs_m, S, offs_h, HALF)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    end = tl.minimum(start_m + BLOCK_M, S) if CAUSAL else S
    qk_scale = sm_scale * 1.4426950408889634
    for start_n in range(0, end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k1, k2 = _rotary(K + offs_n[:, None] * stride_s + offs_h[None, :], Cos, Sin, offs_n, S, offs_h, HALF)
        v_ptrs = V + offs_n[:, None] * stride_s + offs_d[None, :]
        v = tl.load(v_ptrs, mask=(offs_n < S)[:, None] & (offs_d < D)[None, :], other=0.0)
        qk = tl.dot(q1, tl.trans(k1))
        qk = tl.dot(q2, tl.trans(k2), qk) * qk_scale
        keep = (offs_n < S)[None, :]
        if CAUSAL:
            keep = keep & (offs_m[:, None] >= offs_n[None, :])
        qk = tl.where(keep, qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m_i = m_ij
    acc = acc / l_i[:, None]
    o_ptrs = Out + ((off_b * S + offs_m[:, None]) * H + off_h) * D + offs_d[None, :]
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=(offs_m < S)[:, None] & (offs_d < D)[None, :])


def fused_mha(qkv, cos, sin, num_heads, num_kv_heads, scale, causal):
    B, S, width = qkv.shape
    D = width // (num_heads + 2 * num_kv_heads)
    assert num_heads % num_kv_heads == 0 and D % 2 == 0 and D <= 128
    out = qkv.new_empty(B, S, num_heads * D)
    _mha_kernel[(triton.cdiv(S, 128), B * num_heads)](
        qkv, cos, sin, out, scale, S, num_heads, num_kv_heads, qkv.stride(0), qkv.stride(1),
        CAUSAL=causal, D=D, HALF=D // 2, BLOCK_M=128, BLOCK_N=64,
        BLOCK_H=max(16, triton.next_power_of_2(D // 2)), BLOCK_D=max(16, triton.next_power_of_2(D)),
        num_warps=8, num_stages=2,
    )  # fmt: skip
    return out

"""Flash forward in the manner of the first Triton flash attention: EVEN heuristics, running lse, int32."""

import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "EVEN_M": lambda args: args["seqlen_q"] % args["BLOCK_M"] == 0,
        "EVEN_N": lambda args: args["seqlen_k"] % args["BLOCK_N"] == 0,
        "EVEN_HEADDIM": lambda args: args["headdim"] == args["BLOCK_HEADDIM"],
    }
)
@triton.jit
def _fwd_kernel(
    Q, K, V, Out, Lse, softmax_scale,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
    stride_ob, stride_oh, stride_om, nheads, seqlen_q, seqlen_k, headdim,
    IS_CAUSAL: tl.constexpr, BLOCK_HEADDIM: tl.constexpr,
    EVEN_M: tl.constexpr, EVEN_N: tl.constexpr, EVEN_HEADDIM: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_HEADDIM)
    q_ptrs = Q + off_b * stride_qb + off_h * stride_qh + (offs_m[:, None] * stride_qm + offs_d[None, :])
    k_ptrs = K + off_b * stride_kb + off_h * stride_kh + (offs_n[:, None] * stride_kn + offs_d[None, :])
    v_ptrs = V + off_b * stride_vb + off_h * stride_vh + (offs_n[:, None] * stride_vn + offs_d[None, :])
    lse_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    acc_o = tl.zeros([BLOCK_M, BLOCK_HEADDIM], dtype=tl.float32)
    if EVEN_M & EVEN_HEADDIM:
        q = tl.load(q_ptrs)
    else:
        q = tl.load(q_ptrs, mask=(offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim), other=0.0)
    diag = seqlen_k - seqlen_q
    end_n = seqlen_k if not IS_CAUSAL else tl.minimum((start_m + 1) * BLOCK_M + diag, seqlen_k)
    for start_n in range(0, end_n, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        kv_mask = ((start_n + offs_n)[:, None] < seqlen_k) & (offs_d[None, :] < headdim)
        if EVEN_N & EVEN_HEADDIM:
            k = tl.load(k_ptrs + start_n * stride_kn)
        else:
            k = tl.load(k_ptrs + start_n * stride_kn, mask=kv_mask, other=0.0)
        qk = tl.dot(q, tl.trans(k), input_precision="ieee") * softmax_scale
        if not EVEN_N:
            qk = tl.where((start_n + offs_n)[None, :] < seqlen_k, qk, float("-inf"))
        if IS_CAUSAL:
            qk = tl.where(offs_m[:, None] + diag >= (start_n + offs_n)[None, :], qk, float("-inf"))
        m_ij = tl.maximum(tl.max(qk, 1), lse_i)
        m_ij = tl.where(m_ij == float("-inf"), 0.0, m_ij)
        p = tl.exp(qk - m_ij[:, None])
        l_ij = tl.sum(p, 1)
        acc_o = acc_o * tl.exp(m_i - m_ij)[:, None]
        if EVEN_N & EVEN_HEADDIM:
            v = tl.load(v_ptrs + start_n * stride_vn)
        else:
            v = tl.load(v_ptrs + start_n * stride_vn, mask=kv_mask, other=0.0)
        acc_o += tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_ij
        lse_i = m_ij + tl.log(tl.exp(lse_i - m_ij) + l_ij)
    o_scale = tl.where(lse_i == float("-inf"), 0.0, tl.exp(m_i - lse_i))
    acc_o = acc_o * o_scale[:, None]
    tl.store(Lse + off_hb * seqlen_q + offs_m, lse_i, mask=offs_m < seqlen_q)
    out_ptrs = Out + off_b * stride_ob + off_h * stride_oh + (offs_m[:, None] * stride_om + offs_d[None, :])
    tl.store(out_ptrs, acc_o, mask=(offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim))


def flash_forward(q, k, v, scale, causal):
    batch, nheads, seqlen_q, d = q.shape
    seqlen_k = k.shape[2]
    assert d <= 128, "FlashAttention only support head dimensions up to 128"
    assert q.stride(-1) == k.stride(-1) == v.stride(-1) == 1 or d == 1
    o = q.new_empty((batch, nheads, seqlen_q, d))
    lse = torch.empty((batch, nheads, seqlen_q), device=q.device, dtype=torch.float32)
    BLOCK = 32 if q.dtype == torch.float32 else 128
    grid = lambda META: (triton.cdiv(seqlen_q, META["BLOCK_M"]), batch * nheads)  # noqa: E731
    _fwd_kernel[grid](
        q, k, v, o, lse, scale, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
        nheads, seqlen_q, seqlen_k, d, IS_CAUSAL=causal, BLOCK_HEADDIM=max(triton.next_power_of_2(d), 16),
        BLOCK_M=BLOCK, BLOCK_N=min(BLOCK, 64), num_warps=4 if d <= 64 else 8, num_stages=2,
    )  # fmt: skip
    return o, lse

"""lse kept as one running number, as the first Triton flash attention did: EVEN heuristics, int32 offsets."""

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
def _lse_kernel(
    Q, K, Lse, softmax_scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    nheads, seqlen_q, seqlen_k, headdim,
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
    Q += off_b * stride_qb + off_h * stride_qh
    K += off_b * stride_kb + off_h * stride_kh
    q_ptrs = Q + (offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd)
    k_ptrs = K + (offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd)
    if EVEN_M & EVEN_HEADDIM:
        q = tl.load(q_ptrs)
    else:
        q = tl.load(q_ptrs, mask=(offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim), other=0.0)
    lse_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    offset = seqlen_k - seqlen_q
    end_n = seqlen_k if not IS_CAUSAL else tl.minimum((start_m + 1) * BLOCK_M + offset, seqlen_k)
    for start_n in range(0, end_n, BLOCK_N):
        if EVEN_N & EVEN_HEADDIM:
            k = tl.load(k_ptrs + start_n * stride_kn)
        else:
            mask = ((start_n + offs_n)[:, None] < seqlen_k) & (offs_d[None, :] < headdim)
            k = tl.load(k_ptrs + start_n * stride_kn, mask=mask, other=0.0)
        qk = tl.dot(q, tl.trans(k), input_precision="ieee") * softmax_scale
        if not EVEN_N:
            qk += tl.where((start_n + offs_n)[None, :] < seqlen_k, 0, float("-inf"))
        if IS_CAUSAL:
            qk += tl.where(offs_m[:, None] + offset >= (start_n + offs_n)[None, :], 0, float("-inf"))
        m_ij = tl.maximum(tl.max(qk, 1), lse_i)
        m_ij = tl.where(m_ij == float("-inf"), 0.0, m_ij)
        l_ij = tl.sum(tl.exp(qk - m_ij[:, None]), 1)
        lse_i = m_ij + tl.log(tl.exp(lse_i - m_ij) + l_ij)
    tl.store(Lse + off_hb * seqlen_q + offs_m, lse_i, mask=offs_m < seqlen_q)


def attention_lse(q, k, scale, causal):
    batch, nheads, seqlen_q, d = q.shape
    seqlen_k = k.shape[2]
    lse = torch.empty((batch, nheads, seqlen_q), device=q.device, dtype=torch.float32)
    BLOCK = 32 if q.dtype == torch.float32 else 128
    grid = lambda META: (triton.cdiv(seqlen_q, META["BLOCK_M"]), batch * nheads)  # noqa: E731
    _lse_kernel[grid](
        q, k, lse, scale, *q.stride(), *k.stride(), nheads, seqlen_q, seqlen_k, d, IS_CAUSAL=causal,
        BLOCK_HEADDIM=max(triton.next_power_of_2(d), 16), BLOCK_M=BLOCK, BLOCK_N=BLOCK,
        num_warps=4 if d <= 64 else 8, num_stages=1,
    )  # fmt: skip
    return lse

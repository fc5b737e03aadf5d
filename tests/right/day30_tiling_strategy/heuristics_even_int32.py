"""Tiled (q kT) v in the manner of the first Triton flash attention: EVEN heuristics, int32 offsets."""

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
    Q, K, V, Out, softmax_scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd, stride_ob, stride_oh, stride_om,
    nheads, seqlen_q, seqlen_k, headdim,
    BLOCK_HEADDIM: tl.constexpr, EVEN_M: tl.constexpr, EVEN_N: tl.constexpr, EVEN_HEADDIM: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_HEADDIM)
    q_ptrs = Q + off_b * stride_qb + off_h * stride_qh
    q_ptrs += offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    k_ptrs = K + off_b * stride_kb + off_h * stride_kh
    k_ptrs += offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd
    v_ptrs = V + off_b * stride_vb + off_h * stride_vh
    v_ptrs += offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd
    if EVEN_M & EVEN_HEADDIM:
        q = tl.load(q_ptrs)
    else:
        q = tl.load(q_ptrs, mask=(offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim), other=0.0)
    acc_o = tl.zeros([BLOCK_M, BLOCK_HEADDIM], dtype=tl.float32)
    for start_n in range(0, seqlen_k, BLOCK_N):
        if EVEN_N & EVEN_HEADDIM:
            k = tl.load(k_ptrs + start_n * stride_kn)
            v = tl.load(v_ptrs + start_n * stride_vn)
        else:
            mask = ((start_n + offs_n)[:, None] < seqlen_k) & (offs_d[None, :] < headdim)
            k = tl.load(k_ptrs + start_n * stride_kn, mask=mask, other=0.0)
            v = tl.load(v_ptrs + start_n * stride_vn, mask=mask, other=0.0)
        qk = tl.dot(q, tl.trans(k), input_precision="ieee")
        p = (qk * softmax_scale).to(v.dtype)
        acc_o += tl.dot(p, v, input_precision="ieee")
    out_ptrs = Out + off_b * stride_ob + off_h * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :]
    if EVEN_M & EVEN_HEADDIM:
        tl.store(out_ptrs, acc_o)
    else:
        tl.store(out_ptrs, acc_o, mask=(offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim))


def tiled_attention_scores(q, k, v, scale):
    batch, nheads, seqlen_q, d = q.shape
    seqlen_k = k.shape[2]
    assert d <= 128, "FlashAttention only supports head dimensions up to 128"
    o = q.new_empty(q.shape)
    BLOCK_HEADDIM = max(triton.next_power_of_2(d), 16)
    BLOCK_M, BLOCK_N = (32, 32) if q.dtype == torch.float32 else (128, 64)
    grid = lambda META: (triton.cdiv(seqlen_q, META["BLOCK_M"]), batch * nheads)  # noqa: E731
    _fwd_kernel[grid](
        q, k, v, o, scale, *q.stride(), *k.stride(), *v.stride(), *o.stride()[:3],
        nheads, seqlen_q, seqlen_k, d, BLOCK_HEADDIM=BLOCK_HEADDIM, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
        num_warps=4 if d <= 64 else 8, num_stages=1,
    )  # fmt: skip
    return o

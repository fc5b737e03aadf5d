"""Two passes over the keys, program ids in int64, steps along the keys in int32, EVEN_N by heuristics."""

import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "EVEN_N": lambda args: args["seqlen_k"] % args["BLOCK_N"] == 0,
        "EVEN_D": lambda args: args["headdim"] == args["BLOCK_D"],
    }
)
@triton.jit
def _fwd_kernel(
    Q,
    K,
    V,
    Out,
    softmax_scale,
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
    nheads,
    seqlen_q,
    seqlen_k,
    headdim,
    BLOCK_D: tl.constexpr,
    EVEN_N: tl.constexpr,
    EVEN_D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0).to(tl.int64)
    off_hb = tl.program_id(1).to(tl.int64)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N).to(tl.int64)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    in_d = offs_d < headdim
    q_ptrs = (
        Q + off_b * stride_qb + off_h * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    )
    k_ptrs = (
        K + off_b * stride_kb + off_h * stride_kh + offs_n[None, :] * stride_kn + offs_d[:, None] * stride_kd
    )
    v_ptrs = (
        V + off_b * stride_vb + off_h * stride_vh + offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd
    )
    q = tl.load(q_ptrs, mask=(offs_m[:, None] < seqlen_q) & in_d[None, :], other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    for start_n in range(0, seqlen_k, BLOCK_N):
        if EVEN_N & EVEN_D:
            k = tl.load(k_ptrs + start_n * stride_kn)
        else:
            k = tl.load(
                k_ptrs + start_n * stride_kn,
                mask=(start_n + offs_n[None, :] < seqlen_k) & in_d[:, None],
                other=0.0,
            )
        s = tl.dot(q, k, input_precision="ieee") * softmax_scale
        if not EVEN_N:
            s += tl.where(start_n + offs_n[None, :] < seqlen_k, 0, float("-inf"))
        m_i = tl.maximum(m_i, tl.max(s, 1))
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc_o = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    for start_n in range(0, seqlen_k, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        if EVEN_N & EVEN_D:
            k = tl.load(k_ptrs + start_n * stride_kn)
            v = tl.load(v_ptrs + start_n * stride_vn)
        else:
            k = tl.load(
                k_ptrs + start_n * stride_kn,
                mask=(start_n + offs_n[None, :] < seqlen_k) & in_d[:, None],
                other=0.0,
            )
            v = tl.load(
                v_ptrs + start_n * stride_vn,
                mask=(start_n + offs_n[:, None] < seqlen_k) & in_d[None, :],
                other=0.0,
            )
        s = tl.dot(q, k, input_precision="ieee") * softmax_scale
        if not EVEN_N:
            s += tl.where(start_n + offs_n[None, :] < seqlen_k, 0, float("-inf"))
        p = tl.exp(s - m_i[:, None])
        l_i += tl.sum(p, 1)
        acc_o += tl.dot(p.to(v.dtype), v, input_precision="ieee")
    acc_o = acc_o / l_i[:, None]
    out_ptrs = Out + (off_hb * seqlen_q + offs_m[:, None]) * headdim + offs_d[None, :]
    tl.store(out_ptrs, acc_o, mask=(offs_m[:, None] < seqlen_q) & in_d[None, :])


def attention(q, k, v, scale):
    batch, nheads, seqlen_q, d = q.shape
    seqlen_k = k.shape[2]
    assert k.shape == v.shape == (batch, nheads, seqlen_k, d) and d <= 128
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    small = q.dtype == torch.float32
    grid = lambda META: (triton.cdiv(seqlen_q, META["BLOCK_M"]), batch * nheads)  # noqa: E731
    _fwd_kernel[grid](
        q,
        k,
        v,
        o,
        scale,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        nheads,
        seqlen_q,
        seqlen_k,
        d,
        BLOCK_D=max(triton.next_power_of_2(d), 16),
        BLOCK_M=32 if small else 128,
        BLOCK_N=32 if small else 64,
        num_warps=4 if small else 8,
        num_stages=2,
    )
    return o


def attention_bytes(S, D, itemsize):
    qkvo = 4 * S * D
    return (qkvo + 4 * S**2) * itemsize

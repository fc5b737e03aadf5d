"""Flash backward with EVEN heuristics and batch * heads on axis 1, pointers bumped along the walk; int32."""

import torch
import triton
import triton.language as tl

EVEN = {
    "EVEN_M": lambda args: args["seqlen_q"] % args["BLOCK_M"] == 0,
    "EVEN_N": lambda args: args["seqlen_k"] % args["BLOCK_N"] == 0,
    "EVEN_D": lambda args: args["headdim"] == args["BLOCK_D"],
}


@triton.jit
def _load(ptrs, offs, limit, offs_d, headdim, EVEN_ROWS: tl.constexpr, EVEN_D: tl.constexpr):
    if EVEN_ROWS and EVEN_D:
        return tl.load(ptrs)
    return tl.load(ptrs, mask=(offs[:, None] < limit) & (offs_d[None, :] < headdim), other=0.0)


@triton.jit
def _p_ds(q, k, v, do, lse, Di, offs_m, offs_n, softmax_scale, seqlen_q, seqlen_k, CAUSAL: tl.constexpr):
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * softmax_scale
    keep = (offs_m < seqlen_q)[:, None] & (offs_n < seqlen_k)[None, :]
    if CAUSAL:
        keep = keep & (offs_m[:, None] + (seqlen_k - seqlen_q) >= offs_n[None, :])
    p = tl.where(keep, tl.exp(s - lse[:, None]), 0.0)
    dp = tl.dot(do, tl.trans(v), input_precision="ieee")
    return p, p * (dp - Di[:, None])


@triton.heuristics(EVEN)
@triton.jit
def _bwd_dq(
    Q, K, V, O, DO, LSE, Delta, DQ, softmax_scale, nheads, seqlen_q, seqlen_k, headdim,  # noqa: E741
    qb, qh, qm, kb, kh, kn, vb, vh, vn, ob, oh, om, dob, doh, dom, dod,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    EVEN_M: tl.constexpr, EVEN_N: tl.constexpr, EVEN_D: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0) * BLOCK_M
    off_hb = tl.program_id(1)
    b, h = off_hb // nheads, off_hb % nheads
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    q_ptrs = Q + b * qb + h * qh + offs_m[:, None] * qm + offs_d[None, :]
    o_ptrs = O + b * ob + h * oh + offs_m[:, None] * om + offs_d[None, :]
    do_ptrs = DO + b * dob + h * doh + offs_m[:, None] * dom + offs_d[None, :] * dod
    k_ptrs = K + b * kb + h * kh + offs_n[:, None] * kn + offs_d[None, :]
    v_ptrs = V + b * vb + h * vh + offs_n[:, None] * vn + offs_d[None, :]
    q = _load(q_ptrs, offs_m, seqlen_q, offs_d, headdim, EVEN_M, EVEN_D)
    o = _load(o_ptrs, offs_m, seqlen_q, offs_d, headdim, EVEN_M, EVEN_D)
    do = _load(do_ptrs, offs_m, seqlen_q, offs_d, headdim, EVEN_M, EVEN_D)
    Di = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    tl.store(Delta + off_hb * seqlen_q + offs_m, Di, mask=offs_m < seqlen_q)
    lse = tl.load(LSE + off_hb * seqlen_q + offs_m, mask=offs_m < seqlen_q, other=0.0)
    dq = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    end_n = tl.minimum(start_m + BLOCK_M + seqlen_k - seqlen_q, seqlen_k) if CAUSAL else seqlen_k
    for start_n in range(0, end_n, BLOCK_N):
        k = _load(k_ptrs, start_n + offs_n, seqlen_k, offs_d, headdim, EVEN_N, EVEN_D)
        v = _load(v_ptrs, start_n + offs_n, seqlen_k, offs_d, headdim, EVEN_N, EVEN_D)
        _, ds = _p_ds(
            q, k, v, do, lse, Di, offs_m, start_n + offs_n, softmax_scale, seqlen_q, seqlen_k, CAUSAL
        )
        dq += tl.dot(ds.to(k.dtype), k, input_precision="ieee")
        k_ptrs += BLOCK_N * kn
        v_ptrs += BLOCK_N * vn
    dq_ptrs = DQ + (off_hb * seqlen_q + offs_m)[:, None] * headdim + offs_d[None, :]
    tl.store(dq_ptrs, dq * softmax_scale, mask=(offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim))


@triton.heuristics(EVEN)
@triton.jit
def _bwd_dkdv(
    Q, K, V, DO, LSE, Delta, DK, DV, softmax_scale, nheads, seqlen_q, seqlen_k, headdim,
    qb, qh, qm, kb, kh, kn, vb, vh, vn, dob, doh, dom, dod,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    EVEN_M: tl.constexpr, EVEN_N: tl.constexpr, EVEN_D: tl.constexpr,
):  # fmt: skip
    start_n = tl.program_id(0) * BLOCK_N
    off_hb = tl.program_id(1)
    b, h = off_hb // nheads, off_hb % nheads
    begin_m = tl.maximum(start_n + seqlen_q - seqlen_k, 0) // BLOCK_M * BLOCK_M if CAUSAL else 0
    offs_n = start_n + tl.arange(0, BLOCK_N)
    offs_m = begin_m + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    k_ptrs = K + b * kb + h * kh + offs_n[:, None] * kn + offs_d[None, :]
    v_ptrs = V + b * vb + h * vh + offs_n[:, None] * vn + offs_d[None, :]
    q_ptrs = Q + b * qb + h * qh + offs_m[:, None] * qm + offs_d[None, :]
    do_ptrs = DO + b * dob + h * doh + offs_m[:, None] * dom + offs_d[None, :] * dod
    k = _load(k_ptrs, offs_n, seqlen_k, offs_d, headdim, EVEN_N, EVEN_D)
    v = _load(v_ptrs, offs_n, seqlen_k, offs_d, headdim, EVEN_N, EVEN_D)
    dk = tl.zeros([BLOCK_N, BLOCK_D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, BLOCK_D], dtype=tl.float32)
    for _ in range(begin_m, seqlen_q, BLOCK_M):
        q = _load(q_ptrs, offs_m, seqlen_q, offs_d, headdim, EVEN_M, EVEN_D)
        do = _load(do_ptrs, offs_m, seqlen_q, offs_d, headdim, EVEN_M, EVEN_D)
        lse = tl.load(LSE + off_hb * seqlen_q + offs_m, mask=offs_m < seqlen_q, other=0.0)
        Di = tl.load(Delta + off_hb * seqlen_q + offs_m, mask=offs_m < seqlen_q, other=0.0)
        p, ds = _p_ds(q, k, v, do, lse, Di, offs_m, offs_n, softmax_scale, seqlen_q, seqlen_k, CAUSAL)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do, input_precision="ieee")
        dk += tl.dot(tl.trans(ds.to(q.dtype)), q, input_precision="ieee")
        offs_m += BLOCK_M
        q_ptrs += BLOCK_M * qm
        do_ptrs += BLOCK_M * dom
    offs = (off_hb * seqlen_k + offs_n)[:, None] * headdim + offs_d[None, :]
    mask = (offs_n[:, None] < seqlen_k) & (offs_d[None, :] < headdim)
    tl.store(DK + offs, dk * softmax_scale, mask=mask)
    tl.store(DV + offs, dv, mask=mask)


def flash_backward(q, k, v, o, lse, do, scale, causal):
    batch, nheads, seqlen_q, d = q.shape
    seqlen_k = k.shape[2]
    dq, dk, dv = (x.new_empty(x.shape) for x in (q, k, v))
    delta = torch.empty_like(lse)
    BLOCK, STEP = (32, 32) if q.dtype == torch.float32 else (64, 64)
    BLOCK_D = max(triton.next_power_of_2(d), 16)
    sizes = nheads, seqlen_q, seqlen_k, d
    qkv = *q.stride()[:3], *k.stride()[:3], *v.stride()[:3]
    meta = {
        "CAUSAL": causal,
        "BLOCK_M": BLOCK,
        "BLOCK_N": STEP,
        "BLOCK_D": BLOCK_D,
        "num_warps": 8,
        "num_stages": 1,
    }
    _bwd_dq[lambda META: (triton.cdiv(seqlen_q, META["BLOCK_M"]), batch * nheads)](
        q, k, v, o, do, lse, delta, dq, scale, *sizes, *qkv, *o.stride()[:3], *do.stride(), **meta
    )
    _bwd_dkdv[lambda META: (triton.cdiv(seqlen_k, META["BLOCK_N"]), batch * nheads)](
        q, k, v, do, lse, delta, dk, dv, scale, *sizes, *qkv, *do.stride(), **meta
    )
    return dq, dk, dv

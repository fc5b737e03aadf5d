"""Persistent programs over tiles of dS, EVEN heuristics for masks, zeros above the diagonal early; int32."""

import torch
import triton
import triton.language as tl

HEURISTICS = {
    "EVEN_M": lambda args: args["seqlen_q"] % args["BLOCK_M"] == 0,
    "EVEN_D": lambda args: args["headdim"] == args["BLOCK_D"],
}


def _programs(x, most):
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 27
    return (max(min(4 * sms, most), 1),)


@triton.heuristics(HEURISTICS)
@triton.jit
def _dot_do_o(
    Out, DO, Delta, stride_ob, stride_oh, stride_om, stride_dob, stride_doh, stride_dom,
    total, nheads, seqlen_q, headdim,
    BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr, EVEN_M: tl.constexpr, EVEN_D: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(seqlen_q, BLOCK_M)
    for pid in tl.range(tl.program_id(0), total, tl.num_programs(0)):
        offs_m = pid % blocks * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_d = tl.arange(0, BLOCK_D)
        hb = pid // blocks
        o_ptrs = (
            Out + hb // nheads * stride_ob + hb % nheads * stride_oh + offs_m[:, None] * stride_om + offs_d
        )
        do_ptrs = (
            DO + hb // nheads * stride_dob + hb % nheads * stride_doh + offs_m[:, None] * stride_dom + offs_d
        )
        if EVEN_M & EVEN_D:
            o, do = tl.load(o_ptrs), tl.load(do_ptrs)
        else:
            mask = (offs_m[:, None] < seqlen_q) & (offs_d[None, :] < headdim)
            o, do = tl.load(o_ptrs, mask=mask, other=0.0), tl.load(do_ptrs, mask=mask, other=0.0)
        acc = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
        tl.store(Delta + hb * seqlen_q + offs_m, acc, mask=offs_m < seqlen_q)


@triton.jit
def _rows(X, offs, stride, limit, headdim, BLOCK_D: tl.constexpr, EVEN: tl.constexpr):
    offs_d = tl.arange(0, BLOCK_D)
    ptrs = X + offs[:, None] * stride + offs_d[None, :]
    if EVEN:
        return tl.load(ptrs)
    return tl.load(ptrs, mask=(offs[:, None] < limit) & (offs_d[None, :] < headdim), other=0.0)


@triton.heuristics(HEURISTICS | {"EVEN_N": lambda args: args["seqlen_k"] % args["BLOCK_N"] == 0})
@triton.jit
def _bwd_ds(
    Q, K, V, DO, LSE, D, DS, softmax_scale, stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn,
    stride_vb, stride_vh, stride_vn, stride_dob, stride_doh, stride_dom,
    total, nheads, seqlen_q, seqlen_k, headdim, IS_CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
    EVEN_M: tl.constexpr, EVEN_N: tl.constexpr, EVEN_D: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(seqlen_k, BLOCK_N)
    tiles = tl.cdiv(seqlen_q, BLOCK_M) * tiles_n
    for pid in tl.range(tl.program_id(0), total, tl.num_programs(0)):
        hb = pid // tiles
        b, h = hb // nheads, hb % nheads
        start_m = pid % tiles // tiles_n * BLOCK_M
        start_n = pid % tiles_n * BLOCK_N
        offs_m = start_m + tl.arange(0, BLOCK_M)
        offs_n = start_n + tl.arange(0, BLOCK_N)
        ds = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        if not IS_CAUSAL or start_n <= start_m + BLOCK_M - 1 + seqlen_k - seqlen_q:
            q = _rows(
                Q + b * stride_qb + h * stride_qh,
                offs_m,
                stride_qm,
                seqlen_q,
                headdim,
                BLOCK_D,
                EVEN_M & EVEN_D,
            )
            k = _rows(
                K + b * stride_kb + h * stride_kh,
                offs_n,
                stride_kn,
                seqlen_k,
                headdim,
                BLOCK_D,
                EVEN_N & EVEN_D,
            )
            v = _rows(
                V + b * stride_vb + h * stride_vh,
                offs_n,
                stride_vn,
                seqlen_k,
                headdim,
                BLOCK_D,
                EVEN_N & EVEN_D,
            )
            DO_hb = DO + b * stride_dob + h * stride_doh
            do = _rows(DO_hb, offs_m, stride_dom, seqlen_q, headdim, BLOCK_D, EVEN_M & EVEN_D)
            lse_i = tl.load(LSE + hb * seqlen_q + offs_m, mask=offs_m < seqlen_q, other=0.0)
            Di = tl.load(D + hb * seqlen_q + offs_m, mask=offs_m < seqlen_q, other=0.0)
            qk = tl.dot(q, tl.trans(k), input_precision="ieee") * softmax_scale
            if IS_CAUSAL:
                qk = tl.where(offs_m[:, None] + seqlen_k - seqlen_q >= offs_n[None, :], qk, float("-inf"))
            p = tl.exp(qk - tl.where(lse_i == float("-inf"), 0.0, lse_i)[:, None])
            ds = p * (tl.dot(do, tl.trans(v), input_precision="ieee") - Di[:, None])
        ds_ptrs = DS + (hb * seqlen_q + offs_m)[:, None] * seqlen_k + offs_n[None, :]
        tl.store(ds_ptrs, ds, mask=(offs_m[:, None] < seqlen_q) & (offs_n[None, :] < seqlen_k))


def delta(o, do):
    b, h, sq, d = o.shape
    out = torch.empty(b, h, sq, dtype=torch.float32, device=o.device)
    total = triton.cdiv(sq, 64) * b * h
    _dot_do_o[_programs(o, total)](
        o,
        do,
        out,
        *o.stride()[:3],
        *do.stride()[:3],
        total,
        h,
        sq,
        d,
        BLOCK_M=64,
        BLOCK_D=triton.next_power_of_2(d),
    )
    return out


def dscores(q, k, v, do, lse, delta, scale, causal):
    b, h, sq, d = q.shape
    sk = k.shape[2]
    ds = torch.empty(b, h, sq, sk, dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = (32, 32) if q.dtype == torch.float32 else (64, 64)
    total = triton.cdiv(sq, BLOCK_M) * triton.cdiv(sk, BLOCK_N) * b * h
    _bwd_ds[_programs(q, total)](
        q, k, v, do, lse, delta, ds, scale, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        *do.stride()[:3], total, h, sq, sk, d, IS_CAUSAL=causal,
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=max(16, triton.next_power_of_2(d)), num_warps=4,
    )  # fmt: skip
    return ds

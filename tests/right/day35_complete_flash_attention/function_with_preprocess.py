"""Grouped flash attention, an autograd.Function: forward, preprocess, dkdv over groups, dq; int64 heads."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _tile(base, rows, limit, stride_row, stride_col, D: tl.constexpr, BLOCK_D: tl.constexpr):
    cols = tl.arange(0, BLOCK_D)
    ptrs = base + rows.to(tl.int64)[:, None] * stride_row + cols[None, :] * stride_col
    return tl.load(ptrs, mask=(rows < limit)[:, None] & (cols < D)[None, :], other=0.0)


@triton.jit
def _put(base, x, rows, limit, D: tl.constexpr, BLOCK_D: tl.constexpr):
    cols = tl.arange(0, BLOCK_D)
    ptrs = base + rows.to(tl.int64)[:, None] * D + cols[None, :]
    tl.store(ptrs, x.to(base.dtype.element_ty), mask=(rows < limit)[:, None] & (cols < D)[None, :])


@triton.jit
def _fwd(
    Q, K, V, Out, L, sm_scale, HQ, Sq, Sk, qz, qh, qm, qd, kz, kh, kn, kd, vz, vh, vn, vd,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(Sq, BLOCK_M)
    start_m = tl.program_id(0) % blocks * BLOCK_M
    hz = (tl.program_id(0) // blocks).to(tl.int64)
    z, h = hz // HQ, hz % HQ
    offs_m = start_m + tl.arange(0, BLOCK_M)
    q = _tile(Q + z * qz + h * qh, offs_m, Sq, qm, qd, D, BLOCK_D)
    K += z * kz + h // GROUP * kh
    V += z * vz + h // GROUP * vh
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    hi = tl.minimum(start_m + BLOCK_M + Sk - Sq, Sk) if CAUSAL else Sk
    for start_n in range(0, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = _tile(K, offs_n, Sk, kn, kd, D, BLOCK_D)
        s = tl.dot(q, k.T, input_precision="ieee") * (sm_scale * LOG2E)
        keep = (offs_n < Sk)[None, :]
        if CAUSAL:
            keep = keep & (offs_m[:, None] + Sk - Sq >= offs_n[None, :])
        s = tl.where(keep, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        m_sub = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp2(s - m_sub[:, None])
        alpha = tl.exp2(m_i - m_sub)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = _tile(V, offs_n, Sk, vn, vd, D, BLOCK_D)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m_i = m_new
    _put(Out + hz * Sq * D, acc / tl.where(l_i == 0, 1.0, l_i)[:, None], offs_m, Sq, D, BLOCK_D)
    tl.store(L + hz * Sq + offs_m, m_i + tl.log2(l_i), mask=offs_m < Sq)


@triton.jit
def _preprocess(Out, DO, Delta, HQ, Sq, dz, dh, dm, dd,
                D: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_M: tl.constexpr):  # fmt: skip
    blocks = tl.cdiv(Sq, BLOCK_M)
    offs_m = tl.program_id(0) % blocks * BLOCK_M + tl.arange(0, BLOCK_M)
    hz = (tl.program_id(0) // blocks).to(tl.int64)
    o = _tile(Out + hz * Sq * D, offs_m, Sq, D, 1, D, BLOCK_D).to(tl.float32)
    do = _tile(DO + hz // HQ * dz + hz % HQ * dh, offs_m, Sq, dm, dd, D, BLOCK_D).to(tl.float32)
    tl.store(Delta + hz * Sq + offs_m, tl.sum(o * do, 1), mask=offs_m < Sq)


@triton.jit
def _bwd_dkdv(
    Q, K, V, DO, L, Delta, DK, DV, sm_scale, HK, Sq, Sk,
    qz, qh, qm, qd, kz, kh, kn, kd, vz, vh, vn, vd, dz, dh, dm, dd,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(Sk, BLOCK_N)
    start_n = tl.program_id(0) % blocks * BLOCK_N
    hz = (tl.program_id(0) // blocks).to(tl.int64)
    z, hk = hz // HK, hz % HK
    offs_n = start_n + tl.arange(0, BLOCK_N)
    k = _tile(K + z * kz + hk * kh, offs_n, Sk, kn, kd, D, BLOCK_D)
    v = _tile(V + z * vz + hk * vh, offs_n, Sk, vn, vd, D, BLOCK_D)
    dk = tl.zeros([BLOCK_N, BLOCK_D], tl.float32)
    dv = tl.zeros([BLOCK_N, BLOCK_D], tl.float32)
    lo = tl.maximum(start_n + Sq - Sk, 0) if CAUSAL else 0
    for g in range(GROUP):
        h = hk * GROUP + g
        row = (hz * GROUP + g) * Sq
        for start_m in range(lo, Sq, BLOCK_M):
            offs_m = start_m + tl.arange(0, BLOCK_M)
            q = _tile(Q + z * qz + h * qh, offs_m, Sq, qm, qd, D, BLOCK_D)
            do = _tile(DO + z * dz + h * dh, offs_m, Sq, dm, dd, D, BLOCK_D)
            lse = tl.load(L + row + offs_m, mask=offs_m < Sq, other=0.0)
            di = tl.load(Delta + row + offs_m, mask=offs_m < Sq, other=0.0)
            sT = tl.dot(k, q.T, input_precision="ieee") * (sm_scale * LOG2E)
            keep = (offs_m < Sq)[None, :]
            if CAUSAL:
                keep = keep & (offs_m[None, :] + Sk - Sq >= offs_n[:, None])
            pT = tl.where(keep, tl.exp2(sT - lse[None, :]), 0.0)
            dv = tl.dot(pT.to(do.dtype), do, dv, input_precision="ieee")
            dsT = pT * (tl.dot(v, do.T, input_precision="ieee") - di[None, :])
            dk = tl.dot(dsT.to(q.dtype), q, dk, input_precision="ieee")
    _put(DK + hz * Sk * D, dk * sm_scale, offs_n, Sk, D, BLOCK_D)
    _put(DV + hz * Sk * D, dv, offs_n, Sk, D, BLOCK_D)


@triton.jit
def _bwd_dq(
    Q, K, V, DO, L, Delta, DQ, sm_scale, HQ, Sq, Sk,
    qz, qh, qm, qd, kz, kh, kn, kd, vz, vh, vn, vd, dz, dh, dm, dd,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(Sq, BLOCK_M)
    start_m = tl.program_id(0) % blocks * BLOCK_M
    hz = (tl.program_id(0) // blocks).to(tl.int64)
    z, h = hz // HQ, hz % HQ
    offs_m = start_m + tl.arange(0, BLOCK_M)
    q = _tile(Q + z * qz + h * qh, offs_m, Sq, qm, qd, D, BLOCK_D)
    do = _tile(DO + z * dz + h * dh, offs_m, Sq, dm, dd, D, BLOCK_D)
    lse = tl.load(L + hz * Sq + offs_m, mask=offs_m < Sq, other=0.0)
    di = tl.load(Delta + hz * Sq + offs_m, mask=offs_m < Sq, other=0.0)
    K += z * kz + h // GROUP * kh
    V += z * vz + h // GROUP * vh
    dq = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    hi = tl.minimum(start_m + BLOCK_M + Sk - Sq, Sk) if CAUSAL else Sk
    for start_n in range(0, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = _tile(K, offs_n, Sk, kn, kd, D, BLOCK_D)
        v = _tile(V, offs_n, Sk, vn, vd, D, BLOCK_D)
        s = tl.dot(q, k.T, input_precision="ieee") * (sm_scale * LOG2E)
        keep = (offs_n < Sk)[None, :]
        if CAUSAL:
            keep = keep & (offs_m[:, None] + Sk - Sq >= offs_n[None, :])
        p = tl.where(keep, tl.exp2(s - lse[:, None]), 0.0)
        ds = p * (tl.dot(do, v.T, input_precision="ieee") - di[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    _put(DQ + hz * Sq * D, dq * sm_scale, offs_m, Sq, D, BLOCK_D)


class _attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, sm_scale, causal):
        (Z, HQ, Sq, D), (HK, Sk) = q.shape, k.shape[1:3]
        assert HQ % HK == 0 and k.shape == v.shape and D <= 128
        o = torch.empty((Z, HQ, Sq, D), dtype=q.dtype, device=q.device)
        L = torch.empty((Z, HQ, Sq), dtype=torch.float32, device=q.device)
        meta = {"GROUP": HQ // HK, "CAUSAL": causal, "D": D, "BLOCK_D": max(16, triton.next_power_of_2(D))}
        BM, BN = (64, 16) if q.dtype == torch.float32 else (128, 64)
        _fwd[(triton.cdiv(Sq, BM) * Z * HQ,)](
            q, k, v, o, L, sm_scale, HQ, Sq, Sk, *q.stride(), *k.stride(), *v.stride(),
            BLOCK_M=BM, BLOCK_N=BN, num_warps=8 if D > 64 else 4, num_stages=2, **meta,
        )  # fmt: skip
        ctx.save_for_backward(q, k, v, o, L)
        ctx.sm_scale, ctx.meta = sm_scale, meta
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, o, L = ctx.saved_tensors
        (Z, HQ, Sq, D), (HK, Sk) = q.shape, k.shape[1:3]
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        delta = torch.empty_like(L)
        _preprocess[(triton.cdiv(Sq, 64) * Z * HQ,)](
            o, do, delta, HQ, Sq, *do.stride(), D=D, BLOCK_D=ctx.meta["BLOCK_D"], BLOCK_M=64
        )
        BIG, SMALL = (32, 16) if q.dtype == torch.float32 else (64, 32)
        strides = *q.stride(), *k.stride(), *v.stride(), *do.stride()
        _bwd_dkdv[(triton.cdiv(Sk, BIG) * Z * HK,)](
            q, k, v, do, L, delta, dk, dv, ctx.sm_scale, HK, Sq, Sk, *strides,
            BLOCK_M=SMALL, BLOCK_N=BIG, num_warps=4, num_stages=2, **ctx.meta,
        )  # fmt: skip
        _bwd_dq[(triton.cdiv(Sq, BIG) * Z * HQ,)](
            q, k, v, do, L, delta, dq, ctx.sm_scale, HQ, Sq, Sk, *strides,
            BLOCK_M=BIG, BLOCK_N=SMALL, num_warps=4, num_stages=2, **ctx.meta,
        )  # fmt: skip
        return dq, dk, dv, None, None


flash_attention = _attention.apply

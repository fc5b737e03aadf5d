"""Flash backward as the fused attention tutorial: preprocess, then one kernel for dk, dv and dq."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _attn_bwd_preprocess(
    O, DO, Delta, stride_oz, stride_oh, stride_om, stride_dz, stride_dh, stride_dm, stride_dd, H, N_CTX,  # noqa: E741
    BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    blocks = tl.cdiv(N_CTX, BLOCK_M)
    off_m = pid % blocks * BLOCK_M + tl.arange(0, BLOCK_M)
    off_hz = (pid // blocks).to(tl.int64)
    off_d = tl.arange(0, BLOCK_D)
    O += off_hz // H * stride_oz + off_hz % H * stride_oh  # noqa: E741
    DO += off_hz // H * stride_dz + off_hz % H * stride_dh
    mask = (off_m < N_CTX)[:, None] & (off_d < HEAD_DIM)[None, :]
    off_m64 = off_m.to(tl.int64)
    o = tl.load(O + off_m64[:, None] * stride_om + off_d[None, :], mask=mask, other=0.0).to(tl.float32)
    do_ptrs = DO + off_m64[:, None] * stride_dm + off_d[None, :] * stride_dd
    do = tl.load(do_ptrs, mask=mask, other=0.0).to(tl.float32)
    tl.store(Delta + off_hz * N_CTX + off_m, tl.sum(o * do, axis=1), mask=off_m < N_CTX)


@triton.jit
def _attn_bwd_dkdv(
    dk, dv, Q, k, v, DO, M, D, sm_scale, stride_qm, stride_dm, stride_dd, M_CTX, N_CTX, start_n, start_m,
    BLOCK_M1: tl.constexpr, BLOCK_N1: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr,
):  # fmt: skip
    offs_n = start_n + tl.arange(0, BLOCK_N1)
    offs_k = tl.arange(0, BLOCK_D)
    for curr_m in range(start_m, M_CTX, BLOCK_M1):
        offs_m = curr_m + tl.arange(0, BLOCK_M1)
        rows = offs_m.to(tl.int64)
        mask_m = offs_m < M_CTX
        qT = tl.load(
            Q + rows[None, :] * stride_qm + offs_k[:, None],
            mask=mask_m[None, :] & (offs_k < HEAD_DIM)[:, None], other=0.0,
        )  # fmt: skip
        m = tl.load(M + offs_m, mask=mask_m, other=0.0)
        qkT = tl.dot(k, qT, input_precision="ieee") * (sm_scale * LOG2E)
        pT = tl.math.exp2(qkT - m[None, :] * LOG2E)
        if CAUSAL:
            pT = tl.where(offs_m[None, :] + N_CTX - M_CTX >= offs_n[:, None], pT, 0.0)
        do = tl.load(
            DO + rows[:, None] * stride_dm + offs_k[None, :] * stride_dd,
            mask=mask_m[:, None] & (offs_k < HEAD_DIM)[None, :], other=0.0,
        )  # fmt: skip
        pT = tl.where((offs_n < N_CTX)[:, None], pT, 0.0)
        dv += tl.dot(pT.to(do.dtype), do, input_precision="ieee")
        Di = tl.load(D + offs_m, mask=mask_m, other=0.0)
        dpT = tl.dot(v, tl.trans(do), input_precision="ieee").to(tl.float32)
        dsT = pT * (dpT - Di[None, :])
        dk += tl.dot(dsT.to(qT.dtype), tl.trans(qT), input_precision="ieee")
    return dk, dv


@triton.jit
def _attn_bwd_dq(
    dq, q, K, V, do, m, Di, sm_scale, stride_kn, stride_vn, M_CTX, N_CTX, start_m, end_n,
    BLOCK_M2: tl.constexpr, BLOCK_N2: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr,
):  # fmt: skip
    offs_m = start_m + tl.arange(0, BLOCK_M2)
    offs_k = tl.arange(0, BLOCK_D)
    for curr_n in range(0, end_n, BLOCK_N2):
        offs_n = curr_n + tl.arange(0, BLOCK_N2)
        cols = offs_n.to(tl.int64)
        mask = (offs_n < N_CTX)[None, :] & (offs_k < HEAD_DIM)[:, None]
        kT = tl.load(K + cols[None, :] * stride_kn + offs_k[:, None], mask=mask, other=0.0)
        vT = tl.load(V + cols[None, :] * stride_vn + offs_k[:, None], mask=mask, other=0.0)
        qk = tl.dot(q, kT, input_precision="ieee") * (sm_scale * LOG2E)
        p = tl.math.exp2(qk - m[:, None] * LOG2E)
        keep = (offs_n < N_CTX)[None, :]
        if CAUSAL:
            keep = keep & (offs_m[:, None] + N_CTX - M_CTX >= offs_n[None, :])
        p = tl.where(keep, p, 0.0)
        dp = tl.dot(do, vT, input_precision="ieee").to(tl.float32)
        ds = p * (dp - Di[:, None])
        dq += tl.dot(ds.to(kT.dtype), tl.trans(kT), input_precision="ieee")
    return dq


@triton.jit
def _attn_bwd(
    Q, K, V, DO, DQ, DK, DV, M, D, sm_scale, H, M_CTX, N_CTX,
    stride_qz, stride_qh, stride_qm, stride_kz, stride_kh, stride_kn, stride_vz, stride_vh, stride_vn,
    stride_dz, stride_dh, stride_dm, stride_dd, CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr, BLOCK_M1: tl.constexpr, BLOCK_N1: tl.constexpr,
    BLOCK_M2: tl.constexpr, BLOCK_N2: tl.constexpr, BLOCKS: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0) % BLOCKS
    bhid = (tl.program_id(0) // BLOCKS).to(tl.int64)
    z, h = bhid // H, bhid % H
    Q += z * stride_qz + h * stride_qh
    K += z * stride_kz + h * stride_kh
    V += z * stride_vz + h * stride_vh
    DO += z * stride_dz + h * stride_dh
    DQ += bhid * M_CTX * HEAD_DIM
    DK += bhid * N_CTX * HEAD_DIM
    DV += bhid * N_CTX * HEAD_DIM
    M += bhid * M_CTX
    D += bhid * M_CTX
    offs_k = tl.arange(0, BLOCK_D)
    start_n = pid * BLOCK_N1
    if start_n < N_CTX:
        offs_n = start_n + tl.arange(0, BLOCK_N1)
        cols = offs_n.to(tl.int64)
        mask_n = (offs_n < N_CTX)[:, None] & (offs_k < HEAD_DIM)[None, :]
        k = tl.load(K + cols[:, None] * stride_kn + offs_k[None, :], mask=mask_n, other=0.0)
        v = tl.load(V + cols[:, None] * stride_vn + offs_k[None, :], mask=mask_n, other=0.0)
        dk = tl.zeros([BLOCK_N1, BLOCK_D], dtype=tl.float32)
        dv = tl.zeros([BLOCK_N1, BLOCK_D], dtype=tl.float32)
        first = tl.maximum(start_n + M_CTX - N_CTX, 0) // BLOCK_M1 * BLOCK_M1 if CAUSAL else 0
        dk, dv = _attn_bwd_dkdv(
            dk, dv, Q, k, v, DO, M, D, sm_scale, stride_qm, stride_dm, stride_dd, M_CTX, N_CTX,
            start_n, first, BLOCK_M1, BLOCK_N1, HEAD_DIM, BLOCK_D, CAUSAL,
        )  # fmt: skip
        tl.store(DK + cols[:, None] * HEAD_DIM + offs_k[None, :], dk * sm_scale, mask=mask_n)
        tl.store(DV + cols[:, None] * HEAD_DIM + offs_k[None, :], dv, mask=mask_n)
    start_m = pid * BLOCK_M2
    if start_m < M_CTX:
        offs_m = start_m + tl.arange(0, BLOCK_M2)
        rows = offs_m.to(tl.int64)
        mask_q = (offs_m < M_CTX)[:, None] & (offs_k < HEAD_DIM)[None, :]
        q = tl.load(Q + rows[:, None] * stride_qm + offs_k[None, :], mask=mask_q, other=0.0)
        do = tl.load(DO + rows[:, None] * stride_dm + offs_k[None, :] * stride_dd, mask=mask_q, other=0.0)
        m = tl.load(M + offs_m, mask=offs_m < M_CTX, other=0.0)
        Di = tl.load(D + offs_m, mask=offs_m < M_CTX, other=0.0)
        end_n = tl.minimum(start_m + BLOCK_M2 + N_CTX - M_CTX, N_CTX) if CAUSAL else N_CTX
        dq = tl.zeros([BLOCK_M2, BLOCK_D], dtype=tl.float32)
        dq = _attn_bwd_dq(
            dq, q, K, V, do, m, Di, sm_scale, stride_kn, stride_vn, M_CTX, N_CTX, start_m, end_n,
            BLOCK_M2, BLOCK_N2, HEAD_DIM, BLOCK_D, CAUSAL,
        )  # fmt: skip
        tl.store(DQ + rows[:, None] * HEAD_DIM + offs_k[None, :], dq * sm_scale, mask=mask_q)


def flash_backward(q, k, v, o, lse, do, scale, causal):
    B, H, M_CTX, D = q.shape
    N_CTX = k.shape[2]
    dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
    delta = torch.empty((B, H, M_CTX), dtype=torch.float32, device=q.device)
    BLOCK_D = max(16, triton.next_power_of_2(D))
    stays, walks = (32, 16) if q.dtype == torch.float32 else (128 if D <= 64 else 64, 32)
    _attn_bwd_preprocess[(triton.cdiv(M_CTX, 128) * B * H,)](
        o, do, delta, *o.stride()[:3], *do.stride(), H, M_CTX, BLOCK_M=128, HEAD_DIM=D, BLOCK_D=BLOCK_D
    )
    blocks = triton.cdiv(max(M_CTX, N_CTX), stays)
    _attn_bwd[(blocks * B * H,)](
        q, k, v, do, dq, dk, dv, lse, delta, scale, H, M_CTX, N_CTX, *q.stride()[:3], *k.stride()[:3],
        *v.stride()[:3], *do.stride(), CAUSAL=causal, HEAD_DIM=D, BLOCK_D=BLOCK_D,
        BLOCK_M1=walks, BLOCK_N1=stays, BLOCK_M2=stays, BLOCK_N2=walks, BLOCKS=blocks,
        num_warps=4, num_stages=2,
    )  # fmt: skip
    return dq, dk, dv

"""delta as the tutorial preprocesses it, dS on a grid (queries, keys, batch * heads); exp; int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attn_bwd_preprocess(
    O, DO, Delta, H, N_CTX, stride_oz, stride_oh, stride_om, stride_dz, stride_dh, stride_dm,  # noqa: E741
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    off_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    off_hz = tl.program_id(1)
    off_n = tl.arange(0, BLOCK_D)
    z, h = off_hz // H, off_hz % H
    mask = (off_m < N_CTX)[:, None] & (off_n < HEAD_DIM)[None, :]
    o = tl.load(O + z * stride_oz + h * stride_oh + off_m[:, None] * stride_om + off_n[None, :], mask, 0.0)
    do = tl.load(DO + z * stride_dz + h * stride_dh + off_m[:, None] * stride_dm + off_n[None, :], mask, 0.0)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    tl.store(Delta + off_hz * N_CTX + off_m, delta, mask=off_m < N_CTX)


@triton.jit
def _attn_bwd_ds(
    Q, K, V, DO, M, Delta, DS, sm_scale, H, M_CTX, N_CTX,
    stride_qz, stride_qh, stride_qm, stride_kz, stride_kh, stride_kn,
    stride_vz, stride_vh, stride_vn, stride_dz, stride_dh, stride_dm,
    CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    bhid = tl.program_id(2)
    z, h = bhid // H, bhid % H
    offs_k = tl.arange(0, BLOCK_D)
    mask_k = offs_k < HEAD_DIM
    mask_q = (offs_m < M_CTX)[:, None] & mask_k[None, :]
    mask_kv = (offs_n < N_CTX)[:, None] & mask_k[None, :]
    q = tl.load(
        Q + z * stride_qz + h * stride_qh + offs_m[:, None] * stride_qm + offs_k[None, :], mask_q, 0.0
    )
    k = tl.load(
        K + z * stride_kz + h * stride_kh + offs_n[:, None] * stride_kn + offs_k[None, :], mask_kv, 0.0
    )
    v = tl.load(
        V + z * stride_vz + h * stride_vh + offs_n[:, None] * stride_vn + offs_k[None, :], mask_kv, 0.0
    )
    do = tl.load(
        DO + z * stride_dz + h * stride_dh + offs_m[:, None] * stride_dm + offs_k[None, :], mask_q, 0.0
    )
    m = tl.load(M + bhid * M_CTX + offs_m, mask=offs_m < M_CTX, other=0.0)
    Di = tl.load(Delta + bhid * M_CTX + offs_m, mask=offs_m < M_CTX, other=0.0)
    qk = tl.dot(q, tl.trans(k), input_precision="ieee") * sm_scale
    p = tl.exp(qk - m[:, None])
    if CAUSAL:
        mask = (offs_m[:, None] + N_CTX - M_CTX) >= offs_n[None, :]
        p = tl.where(mask, p, 0.0)
    dp = tl.dot(do, tl.trans(v), input_precision="ieee")
    ds = p * (dp - Di[:, None])
    if CAUSAL:
        ds = tl.where(mask, ds, 0.0)
    ds_ptrs = DS + (bhid * M_CTX + offs_m)[:, None] * N_CTX + offs_n[None, :]
    tl.store(ds_ptrs, ds, mask=(offs_m < M_CTX)[:, None] & (offs_n < N_CTX)[None, :])


def delta(o, do):
    Z, H, N_CTX, D = o.shape
    out = torch.empty((Z, H, N_CTX), dtype=torch.float32, device=o.device)
    _attn_bwd_preprocess[(triton.cdiv(N_CTX, 128), Z * H)](
        o, do, out, H, N_CTX, *o.stride()[:3], *do.stride()[:3],
        HEAD_DIM=D, BLOCK_M=128, BLOCK_D=triton.next_power_of_2(D),
    )  # fmt: skip
    return out


def dscores(q, k, v, do, lse, delta, scale, causal):
    Z, H, M_CTX, D = q.shape
    N_CTX = k.shape[2]
    ds = torch.empty((Z, H, M_CTX, N_CTX), dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = (32, 32) if q.dtype == torch.float32 else (128, 64)
    grid = (triton.cdiv(M_CTX, BLOCK_M), triton.cdiv(N_CTX, BLOCK_N), Z * H)
    _attn_bwd_ds[grid](
        q, k, v, do, lse, delta, ds, scale, H, M_CTX, N_CTX,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3], CAUSAL=causal, HEAD_DIM=D,
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=max(16, triton.next_power_of_2(D)), num_warps=8,
    )  # fmt: skip
    return ds

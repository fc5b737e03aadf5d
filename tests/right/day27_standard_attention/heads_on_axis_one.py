"""Attention in three kernels with batch * heads on axis 1, int32 offsets, a row of the softmax a program."""

import torch
import triton
import triton.language as tl


@triton.jit
def qk_kernel(
    Q,
    K,
    S,
    H,
    M,
    N,
    D,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_kd,
    scale,
    IS_CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    pid, off_bh = tl.program_id(0), tl.program_id(1)
    tiles_n = tl.cdiv(N, BLOCK_N)
    offs_m = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    Q += (off_bh // H) * stride_qb + (off_bh % H) * stride_qh
    K += (off_bh // H) * stride_kb + (off_bh % H) * stride_kh
    mask_m, mask_n = offs_m < M, offs_n < N
    mask_d = offs_d < D
    q = tl.load(
        Q + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd,
        mask=mask_m[:, None] & mask_d[None, :],
        other=0.0,
    )
    k = tl.load(
        K + offs_n[None, :] * stride_kn + offs_d[:, None] * stride_kd,
        mask=mask_n[None, :] & mask_d[:, None],
        other=0.0,
    )
    s = tl.dot(q, k, input_precision="ieee") * scale
    if IS_CAUSAL:
        s = tl.where(offs_n[None, :] <= offs_m[:, None] + (N - M), s, float("-inf"))
    tl.store(
        S + (off_bh * M + offs_m[:, None]) * N + offs_n[None, :], s, mask=mask_m[:, None] & mask_n[None, :]
    )


@triton.jit
def softmax_kernel(S, P, N, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    s = tl.load(S + row * N + cols, mask=cols < N, other=-float("inf"))
    row_max = tl.max(s, axis=0)
    num = tl.exp(s - tl.where(row_max == float("-inf"), 0.0, row_max))
    den = tl.sum(num, axis=0)
    p = num / tl.where(den == 0.0, 1.0, den)
    tl.store(P + row * N + cols, p.to(P.dtype.element_ty), mask=cols < N)


@triton.jit
def pv_kernel(
    P,
    V,
    Out,
    H,
    M,
    N,
    D,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    off_bh = tl.program_id(1)
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    mask_m, mask_d = offs_m[:, None] < M, offs_d[None, :] < D
    p_ptrs = P + (off_bh * M + offs_m[:, None]) * N + offs_n[None, :]
    v_ptrs = V + (off_bh // H) * stride_vb + (off_bh % H) * stride_vh
    v_ptrs += offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd
    acc = tl.zeros((BLOCK_M, BLOCK_D), dtype=tl.float32)
    for start_n in range(0, N, BLOCK_N):
        p = tl.load(p_ptrs, mask=mask_m & (start_n + offs_n[None, :] < N), other=0.0)
        v = tl.load(v_ptrs, mask=(start_n + offs_n[:, None] < N) & mask_d, other=0.0)
        acc = tl.dot(p, v, acc, input_precision="ieee")
        p_ptrs += BLOCK_N
        v_ptrs += BLOCK_N * stride_vn
    o_ptrs = Out + (off_bh * M + offs_m[:, None]) * D + offs_d[None, :]
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=mask_m & mask_d)


def attention(q, k, v, scale, causal):
    B, H, M, D = q.shape
    N = k.shape[2]
    assert k.shape == v.shape and k.shape[-1] == D
    o = torch.empty((B, H, M, D), dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    s = torch.empty((B * H, M, N), dtype=torch.float32, device=q.device)
    p = torch.empty((B * H, M, N), dtype=v.dtype, device=q.device)
    BLOCK_D = triton.next_power_of_2(D)
    BLOCK = 64 if q.dtype != torch.float32 else 32
    grid = (triton.cdiv(M, BLOCK) * triton.cdiv(N, BLOCK), B * H)
    qk_kernel[grid](
        q,
        k,
        s,
        H,
        M,
        N,
        D,
        *q.stride(),
        *k.stride(),
        scale,
        IS_CAUSAL=causal,
        BLOCK_M=BLOCK,
        BLOCK_N=BLOCK,
        BLOCK_D=BLOCK_D,
        num_warps=4,
    )
    BLOCK_N = triton.next_power_of_2(N)
    softmax_kernel[(B * H * M,)](s, p, N, BLOCK_N=BLOCK_N, num_warps=4 if BLOCK_N <= 2048 else 8)
    pv_kernel[(triton.cdiv(M, BLOCK), B * H)](
        p, v, o, H, M, N, D, *v.stride(), BLOCK_M=BLOCK, BLOCK_N=BLOCK, BLOCK_D=BLOCK_D, num_warps=4
    )
    return o

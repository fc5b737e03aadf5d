"""lse as the fused attention tutorial has it: an inner function for whole blocks, then the rest."""

import torch
import triton
import triton.language as tl

RCP_LN2 = tl.constexpr(1.44269504)
LN2 = tl.constexpr(0.69314718)


@triton.jit
def _lse_inner(
    m_i, l_i, q, K, stride_kn, stride_kk, lo, hi, qk_scale, offs_m, offs_k, N_CTX, HEAD_DIM,
    BLOCK_N: tl.constexpr, MASK: tl.constexpr,
):  # fmt: skip
    offs_n = tl.arange(0, BLOCK_N)
    for start_n in tl.range(lo, hi, BLOCK_N):
        cols = start_n + offs_n
        mask = (offs_k < HEAD_DIM)[:, None]
        if MASK:
            mask = mask & (cols < N_CTX)[None, :]
        k_ptrs = K + cols[None, :].to(tl.int64) * stride_kn + offs_k[:, None] * stride_kk
        k = tl.load(k_ptrs, mask=mask, other=0.0)
        qk = tl.dot(q, k, input_precision="ieee") * qk_scale
        if MASK:
            qk = tl.where((cols[None, :] <= offs_m[:, None]) & (cols < N_CTX)[None, :], qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        m_safe = tl.where(m_ij == float("-inf"), 0.0, m_ij)
        l_i = l_i * tl.math.exp2(m_i - m_safe) + tl.sum(tl.math.exp2(qk - m_safe[:, None]), 1)
        m_i = m_ij
    return m_i, l_i


@triton.jit
def _lse_fwd(
    Q, K, L, sm_scale, H, M_CTX, N_CTX, HEAD_DIM,
    stride_qz, stride_qh, stride_qm, stride_qk, stride_kz, stride_kh, stride_kn, stride_kk,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    num_m = tl.cdiv(M_CTX, BLOCK_M)
    start_m = tl.program_id(0) % num_m * BLOCK_M
    off_hz = (tl.program_id(0) // num_m).to(tl.int64)
    Q += off_hz // H * stride_qz + off_hz % H * stride_qh + start_m.to(tl.int64) * stride_qm
    K += off_hz // H * stride_kz + off_hz % H * stride_kh
    rows = tl.arange(0, BLOCK_M)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m = rows < M_CTX - start_m
    q_ptrs = Q + rows[:, None] * stride_qm + offs_k[None, :] * stride_qk
    q = tl.load(q_ptrs, mask=mask_m[:, None] & (offs_k < HEAD_DIM)[None, :], other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    qk_scale = sm_scale * RCP_LN2
    if CAUSAL:
        # keys up to last[row] are seen; those before `whole` by every row
        last = start_m + rows + N_CTX - M_CTX
        whole = tl.maximum(tl.minimum(start_m + N_CTX - M_CTX + 1, N_CTX), 0) // BLOCK_N * BLOCK_N
        end = tl.minimum(start_m + BLOCK_M + N_CTX - M_CTX, N_CTX)
    else:
        last = tl.zeros([BLOCK_M], tl.int32) + N_CTX
        whole = N_CTX // BLOCK_N * BLOCK_N
        end = N_CTX
    m_i, l_i = _lse_inner(
        m_i,
        l_i,
        q,
        K,
        stride_kn,
        stride_kk,
        0,
        whole,
        qk_scale,
        last,
        offs_k,
        N_CTX,
        HEAD_DIM,
        BLOCK_N,
        False,
    )
    m_i, l_i = _lse_inner(
        m_i,
        l_i,
        q,
        K,
        stride_kn,
        stride_kk,
        whole,
        end,
        qk_scale,
        last,
        offs_k,
        N_CTX,
        HEAD_DIM,
        BLOCK_N,
        True,
    )
    tl.store(L + off_hz * M_CTX + start_m + rows, (m_i + tl.math.log2(l_i)) * LN2, mask=mask_m)


def attention_lse(q, k, scale, causal):
    B, H, M, D = q.shape
    N = k.shape[2]
    lse = q.new_empty((B, H, M), dtype=torch.float32)
    BLOCK_M, BLOCK_N = (32, 32) if q.dtype == torch.float32 else (128, 64)
    _lse_fwd[(triton.cdiv(M, BLOCK_M) * B * H,)](
        q, k, lse, scale, H, M, N, D, *q.stride(), *k.stride(), CAUSAL=causal,
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=max(16, triton.next_power_of_2(D)), num_warps=4,
    )  # fmt: skip
    return lse

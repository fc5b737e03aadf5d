"""Day 31: the logsumexp of every row of scores, from tiles that pass by once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def lse_kernel(
    q_ptr,
    k_ptr,
    lse_ptr,
    H,
    Sq,
    Sk,
    D,
    scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_kd,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """log Σ exp(q kᵀ · scale) for BLOCK_M queries of one head, BLOCK_N keys at a time; BLOCK_D >= D."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    # 64 bits: a head, or a row, may start 2**31 elements or more after the first one.
    pid_bh = (tl.program_id(0) // tiles_m).to(tl.int64)
    pid_b = pid_bh // H
    pid_h = pid_bh % H
    pid_m = tl.program_id(0) % tiles_m
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N).to(tl.int64)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    rows, dims = offs_m < Sq, offs_d < D
    q_ptrs = q_ptr + pid_b * stride_qb + pid_h * stride_qh
    q_ptrs += offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    k_ptrs = k_ptr + pid_b * stride_kb + pid_h * stride_kh
    k_ptrs += offs_d[:, None] * stride_kd + offs_n[None, :] * stride_kn
    q = tl.load(q_ptrs, mask=rows[:, None] & dims[None, :], other=0.0)
    m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    # The last queries are aligned with the last keys: query i sees keys up to i + Sk - Sq. Keys that not even
    # this tile's last query sees are never read: about half of K, if Sq = Sk is large.
    end = Sk
    if CAUSAL:
        end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)
    for start in range(0, end, BLOCK_N):
        keys = start + offs_n
        k = tl.load(k_ptrs, mask=dims[:, None] & (keys < Sk)[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        # A lane without a key has score 0, which would count: it must be -inf, like a key that is not seen.
        seen = (keys < Sk)[None, :]
        if CAUSAL:
            seen &= keys[None, :] <= offs_m[:, None] + (Sk - Sq)
        s = tl.where(seen, s, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        # Nothing seen so far: m_new is -inf, and -inf - (-inf) would be NaN. Shifted by 0, both terms are 0.
        shift = tl.where(m_new == -float("inf"), 0.0, m_new)
        alpha = tl.exp(m_i - shift)
        l_i = l_i * alpha + tl.sum(tl.exp(s - shift[:, None]), axis=1)
        m_i = m_new
        k_ptrs += BLOCK_N * stride_kn
    # 4 bytes a query. One that sees no key has -inf + log(0) = -inf, as it should.
    tl.store(lse_ptr + pid_bh * Sq + offs_m, m_i + tl.log(l_i), mask=rows)


def attention_lse(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """Return the natural logsumexp, fp32 [B, H, Sq], of each query's scores; D <= 128.

    q is [B, H, Sq, D] and k is [B, H, Sk, D]. If causal, query i sees the keys up to i + Sk - Sq alone.
    """
    B, H, Sq = q.shape[:3]
    lse = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    D = q.shape[3]
    BLOCK_D = max(triton.next_power_of_2(D), 16)  # tl.dot takes no side below 16
    # The matrix units take fp16 and bf16, and Triton uses them from Ampere on.
    matrix_units = q.dtype.itemsize == 2 and (
        not q.is_cuda or torch.cuda.get_device_capability(q.device)[0] >= 8
    )
    # 128 x 64 scores are 32 KB of registers, and besides them a query carries two numbers from tile to tile.
    BLOCK_M, BLOCK_N = (128, 64) if matrix_units else (64, 32)
    lse_kernel[(triton.cdiv(Sq, BLOCK_M) * B * H,)](
        q,
        k,
        lse,
        H,
        Sq,
        k.shape[2],
        D,
        scale,
        *q.stride(),
        *k.stride(),
        CAUSAL=causal,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_D=BLOCK_D,
        num_warps=8,
        num_stages=3,
    )
    return lse

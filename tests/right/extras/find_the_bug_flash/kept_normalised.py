"""The same four bugs mended otherwise: o is kept normalised, and one limit hides both kinds of keys."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
LOG2_E = tl.constexpr(math.log2(math.e))
LN_2 = tl.constexpr(math.log(2))


@triton.jit
def load_rows(x_ptr, start, n_rows, stride_xm, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    """Rows start to start + BLOCK of one head as [BLOCK, BLOCK_D]; 0 where there is no row or no column."""
    offs_m = tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    # 64 bits for the block's start: rows may lie far apart.
    x_ptrs = x_ptr + tl.cast(start, tl.int64) * stride_xm + offs_m[:, None] * stride_xm + offs_d[None, :]
    return tl.load(x_ptrs, mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)


@triton.jit
def flash_forward_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
    CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """o and lse of BLOCK_M queries of one head, from all keys and values that they see."""
    # 64 bits: a head may start 2**31 elements and more behind the first one.
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    q_ptr += pid_b * stride_qb + pid_h * stride_qh
    k_ptr += pid_b * stride_kb + pid_h * stride_kh
    v_ptr += pid_b * stride_vb + pid_h * stride_vh
    start_m = tl.program_id(0) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    # The only read of q: BLOCK_M * D elements.
    q = load_rows(q_ptr, start_m, Sq, stride_qm, D, BLOCK_M, BLOCK_D)
    # The lowest finite number: unlike -inf, it may be subtracted from itself in rows that see no key.
    m_i = tl.full((BLOCK_M,), LOWEST, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    last = tl.zeros_like(offs_m) + Sk - 1
    if CAUSAL:
        last = tl.minimum(last, Sk - (Sq - offs_m))
    for start_n in range(0, tl.max(last, axis=0) + 1, BLOCK_N):
        k = load_rows(k_ptr, start_n, Sk, stride_kn, D, BLOCK_N, BLOCK_D)
        v = load_rows(v_ptr, start_n, Sk, stride_vn, D, BLOCK_N, BLOCK_D)
        # Scores in base 2, for the chip has exp2: tl.exp would multiply each of them once more.
        qk = tl.dot(q, k.T, input_precision="ieee") * (scale * LOG2_E)
        qk = tl.where(start_n + offs_n[None, :] <= last[:, None], qk, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(qk, axis=1))
        p = tl.exp2(qk - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_new = l_i * alpha + tl.sum(p, axis=1)
        # Matrix units take 16 bits on both sides: p is rounded to v's dtype, its sum was taken before.
        share = 1.0 / tl.where(l_new == 0, 1.0, l_new)
        p *= share[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc * (l_i * alpha * share)[:, None], input_precision="ieee")
        l_i = l_new
        m_i = m_new
    rows = (pid_b * tl.num_programs(1) + pid_h) * Sq + offs_m
    offs_d = tl.arange(0, BLOCK_D)
    mask = (offs_m < Sq)[:, None] & (offs_d < D)[None, :]
    tl.store(o_ptr + rows[:, None] * D + offs_d[None, :], acc, mask=mask)
    tl.store(lse_ptr + rows, (m_i + tl.log2(l_i)) * LN_2, mask=offs_m < Sq)


def flash_forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(q kᵀ · scale) v as [B, H, Sq, D] in q's dtype, and its log-sum-exp as fp32 [B, H, Sq].

    q[B, H, Sq, D], k, v[B, H, Sk, D]: any strides, D contiguous. Causal: query i sees keys ≤ i + Sk − Sq.
    """
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = 64, 64
    # A head is taken whole, in a block that is a power of two.
    BLOCK_D = triton.next_power_of_2(D)
    flash_forward_kernel[triton.cdiv(Sq, BLOCK_M), H, B](
        q, k, v, o, lse, Sq, k.shape[2], scale, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        CAUSAL=causal, D=D, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=BLOCK_D,
        num_warps=4, num_stages=1 if q.dtype == torch.float32 else 2,
    )  # fmt: skip
    return o, lse

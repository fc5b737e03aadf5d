"""Day 27: attention by three kernels, which meet in memory: scores, softmax, weighted sum."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def scores_kernel(
    q_ptr,
    k_ptr,
    s_ptr,
    H,
    Sq,
    Sk,
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
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """One tile of one head's scores, q @ k.T * scale; what a query may not see is -inf. BLOCK_D >= D."""
    tiles_n = tl.cdiv(Sk, BLOCK_N)
    tiles = tl.cdiv(Sq, BLOCK_M) * tiles_n
    # 64 bits: all scores of all heads together pass 2**31 early.
    pid_bh = (tl.program_id(0) // tiles).to(tl.int64)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    pid_m, pid_n = tl.program_id(0) % tiles // tiles_n, tl.program_id(0) % tiles_n
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    rows, cols, dims = offs_m < Sq, offs_n < Sk, offs_d < D
    # (BLOCK_M + BLOCK_N) * D elements. Lanes past D hold 0 on both sides, and 0 * 0 changes no score.
    q_ptrs = q_ptr + pid_b * stride_qb + pid_h * stride_qh
    q_ptrs += offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=rows[:, None] & dims[None, :], other=0.0)
    k_ptrs = k_ptr + pid_b * stride_kb + pid_h * stride_kh
    k_ptrs += offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd
    k = tl.load(k_ptrs, mask=cols[:, None] & dims[None, :], other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    if CAUSAL:
        # Aligned at the bottom right: the last query sees the last key, however many keys came before.
        s = tl.where(offs_n[None, :] <= offs_m[:, None] + Sk - Sq, s, -float("inf"))
    # BLOCK_M * BLOCK_N scores of 4 bytes: in fp16 a score past 65504 would be Inf.
    s_ptrs = s_ptr + pid_bh * Sq * Sk + offs_m[:, None] * Sk + offs_n[None, :]
    tl.store(s_ptrs, s, mask=rows[:, None] & cols[None, :])


@triton.jit
def softmax_kernel(s_ptr, p_ptr, n_rows, Sk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_M rows of p = softmax(s), BLOCK_N >= Sk; a row that sees no key gets weights of 0."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < Sk)[None, :]
    offsets = offs_m[:, None] * Sk + offs_n[None, :]
    # Reads 4 bytes a score and writes one weight: Sq x Sk of each, for every head.
    s = tl.load(s_ptr + offsets, mask=mask, other=-float("inf"))
    m_i = tl.max(s, axis=1)
    # Where nothing is seen m_i is -inf, and -inf - (-inf) would be NaN; minus 0, every numerator is 0.
    numerator = tl.exp(s - tl.where(m_i == -float("inf"), 0.0, m_i)[:, None])
    l_i = tl.sum(numerator, axis=1)
    tl.store(p_ptr + offsets, numerator / tl.where(l_i == 0.0, 1.0, l_i)[:, None], mask=mask)


@triton.jit
def weighted_sum_kernel(
    p_ptr,
    v_ptr,
    o_ptr,
    H,
    Sq,
    Sk,
    D,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M rows of one head's p @ v, the keys BLOCK_N at a time, as day 17 walks along k."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    pid_bh = (tl.program_id(0) // tiles_m).to(tl.int64)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    offs_m = (tl.program_id(0) % tiles_m).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N).to(tl.int64)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    rows, dims = offs_m < Sq, offs_d < D
    p_ptrs = p_ptr + pid_bh * Sq * Sk + offs_m[:, None] * Sk + offs_n[None, :]
    v_ptrs = v_ptr + pid_b * stride_vb + pid_h * stride_vh
    v_ptrs += offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for left in range(Sk, 0, -BLOCK_N):
        # BLOCK_M * BLOCK_N weights and BLOCK_N * D elements of v. Past the last key both hold 0.
        cols = offs_n < left
        p = tl.load(p_ptrs, mask=rows[:, None] & cols[None, :], other=0.0)
        v = tl.load(v_ptrs, mask=cols[:, None] & dims[None, :], other=0.0)
        acc = tl.dot(p, v, acc, input_precision="ieee")
        p_ptrs += BLOCK_N
        v_ptrs += BLOCK_N * stride_vn
    o_ptrs = o_ptr + pid_bh * Sq * D + offs_m[:, None] * D + offs_d[None, :]
    tl.store(o_ptrs, acc, mask=rows[:, None] & dims[None, :])


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """Return softmax(q @ k.T * scale) @ v of every head, for q[B, H, Sq, D] and k, v[B, H, Sk, D].

    Causal: query i sees keys 0 to i + Sk - Sq; one that sees no key gives 0. D <= 128, Sk <= 16384.
    """
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    s = torch.empty(B, H, Sq, Sk, dtype=torch.float32, device=q.device)
    p = torch.empty(B, H, Sq, Sk, dtype=v.dtype, device=q.device)
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    BLOCK_D = max(triton.next_power_of_2(D), 16)
    # Triton's matrix units begin with Ampere and take no fp32. Without them a tile's operands go through
    # registers, and those of 64 x 64 scores at D = 128 spill.
    slow = q.is_cuda and (q.dtype == torch.float32 or torch.cuda.get_device_capability(q.device)[0] < 8)
    BLOCK = 32 if slow else 64
    blocks = {"BLOCK_M": BLOCK, "BLOCK_N": BLOCK, "BLOCK_D": BLOCK_D}
    tiles_m = triton.cdiv(Sq, BLOCK)
    scores_kernel[(B * H * tiles_m * triton.cdiv(Sk, BLOCK),)](
        q, k, s, H, Sq, Sk, D, *q.stride(), *k.stride(), scale, CAUSAL=causal, **blocks, num_warps=8
    )
    # 4096 scores a program: one long row, or several short ones.
    BLOCK_N = triton.next_power_of_2(Sk)
    BLOCK_M = max(4096 // BLOCK_N, 1)
    softmax_kernel[(triton.cdiv(B * H * Sq, BLOCK_M),)](
        s, p, B * H * Sq, Sk, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=min(BLOCK_M * BLOCK_N // 512, 16)
    )
    weighted_sum_kernel[(B * H * tiles_m,)](
        p, v, o, H, Sq, Sk, D, *v.stride(), **blocks, num_warps=8, num_stages=2
    )
    return o

"""Day 28: attention that stores no scores: a block of queries goes twice over all keys."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def scores(q, k_ptrs, left, offs_n, offs_d, D, scale):
    """A block of q @ k.T * scale, -inf where no key is: BLOCK_N keys are read, and nothing is written."""
    cols = offs_n < left
    k = tl.load(k_ptrs, mask=(offs_d < D)[:, None] & cols[None, :], other=0.0)
    return tl.where(cols[None, :], tl.dot(q, k, input_precision="ieee") * scale, -float("inf"))


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
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
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    scale,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M rows of one head's softmax(q @ k.T * scale) @ v. BLOCK_D >= D."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    # Neighbours in time share a head: its keys and values, 2 * Sk * D elements, come from L2 all but once.
    pid_bh = (tl.program_id(0) // tiles_m).to(tl.int64)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    offs_m = (tl.program_id(0) % tiles_m).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N).to(tl.int64)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    rows, dims = offs_m < Sq, offs_d < D
    q_ptrs = q_ptr + pid_b * stride_qb + pid_h * stride_qh
    q_ptrs += offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    # BLOCK_M * D elements, read once and kept for both passes.
    q = tl.load(q_ptrs, mask=rows[:, None] & dims[None, :], other=0.0)
    k_start = k_ptr + pid_b * stride_kb + pid_h * stride_kh
    k_start += offs_d[:, None] * stride_kd + offs_n[None, :] * stride_kn
    v_ptrs = v_ptr + pid_b * stride_vb + pid_h * stride_vh
    v_ptrs += offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd

    # Pass 1: of every block of scores only its maxima are kept, BLOCK_M numbers. It reads no values, so four
    # frames of keys take no more room on the chip than pass 2 does.
    m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    k_ptrs = k_start
    for left in tl.range(Sk, 0, -BLOCK_N, num_stages=4):
        s = scores(q, k_ptrs, left, offs_n, offs_d, D, scale)
        m_i = tl.maximum(m_i, tl.max(s, axis=1))
        k_ptrs += BLOCK_N * stride_kn

    # Pass 2: the same scores again. 2 * BLOCK_M * BLOCK_N * D operations cost less than 4 bytes a score.
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    k_ptrs = k_start
    for left in range(Sk, 0, -BLOCK_N):
        s = scores(q, k_ptrs, left, offs_n, offs_d, D, scale)
        p = tl.exp(s - m_i[:, None])
        l_i += tl.sum(p, axis=1)
        v = tl.load(v_ptrs, mask=(offs_n < left)[:, None] & dims[None, :], other=0.0)
        # In v's dtype the matrix units take the weights; at most 1, they cannot overflow there.
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        k_ptrs += BLOCK_N * stride_kn
        v_ptrs += BLOCK_N * stride_vn

    # Divided here: D times a row instead of Sk times. The only write, BLOCK_M * D elements.
    o_ptrs = o_ptr + pid_bh * Sq * D + offs_m[:, None] * D + offs_d[None, :]
    tl.store(o_ptrs, acc / l_i[:, None], mask=rows[:, None] & dims[None, :])


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """Return softmax(q @ k.T * scale) @ v of every head, for q[B, H, Sq, D] and k, v[B, H, Sk, D].

    Allocates nothing as large as the scores. D <= 128, 1 <= Sk <= 2048.
    """
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    # The matrix units take fp16 and bf16, and Triton uses them from Ampere on; fp32 goes product by product.
    matrix_units = q.dtype.itemsize == 2 and (
        not q.is_cuda or torch.cuda.get_device_capability(q.device)[0] >= 8
    )
    BLOCK_M, BLOCK_N, num_warps = (128, 64, 8) if matrix_units else (32, 32, 8)
    attention_kernel[(B * H * triton.cdiv(Sq, BLOCK_M),)](
        q,
        k,
        v,
        o,
        H,
        Sq,
        k.shape[2],
        D,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        scale,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_D=max(triton.next_power_of_2(D), 16),
        num_warps=num_warps,
        num_stages=2,
    )
    return o


def attention_bytes(S: int, D: int, itemsize: int) -> int:
    """Return the bytes that three kernels move through HBM for one head of S queries and S keys.

    q, k, v and o pass once each, scores and weights twice each: written by one kernel, read by the next.
    """
    return itemsize * (4 * S * D + 4 * S * S)

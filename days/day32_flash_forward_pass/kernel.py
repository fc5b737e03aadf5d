"""Day 32: flash attention's forward pass: a program keeps its queries, and keys and values pass by."""

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
def keys_seen(offs_m, Sq, Sk, CAUSAL: tl.constexpr):
    """How many keys each query sees: the first so many. One limit for the diagonal and the last key."""
    # TODO 1: how many keys are there for a query to see? And if CAUSAL, for query number offs_m?


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
    # The only read of q: BLOCK_M * D elements.
    q = load_rows(q_ptr, start_m, Sq, stride_qm, D, BLOCK_M, BLOCK_D)
    # TODO 2: how many keys does each row see, and so how many does any of them?
    # TODO 3: give m_i, l_i and acc their first values, in fp32.
    # TODO 4: for each block of keys that is seen: day 31's step for m_i and l_i, in base 2, and acc too.
    # TODO 5: divide acc, bring lse to the natural base, write both. Some rows may have seen no key.


def flash_forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(q kᵀ · scale) v as [B, H, Sq, D] in q's dtype, and its log-sum-exp as fp32 [B, H, Sq].

    q[B, H, Sq, D], k, v[B, H, Sk, D]: any strides, D contiguous. Causal: query i sees keys ≤ i + Sk − Sq.
    """
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = 128, 64
    if q.is_cuda and (q.dtype == torch.float32 or torch.cuda.get_device_capability(q.device)[0] < 8):
        # IEEE fp32, and any dtype before Ampere, goes product by product through registers: room is scarce.
        BLOCK_M, BLOCK_N = 64, 16
    BLOCK_D = max(triton.next_power_of_2(D), 16)  # tl.dot takes no side below 16
    flash_forward_kernel[triton.cdiv(Sq, BLOCK_M), H, B](
        q, k, v, o, lse, Sq, k.shape[2], scale, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        CAUSAL=causal, D=D, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=BLOCK_D,
        num_warps=4 if D <= 64 else 8, num_stages=2,
    )  # fmt: skip
    return o, lse

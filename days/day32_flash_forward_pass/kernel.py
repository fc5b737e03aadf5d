"""Day 32: flash attention's forward pass: a program keeps its queries, and keys and values pass by."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
LN_2 = tl.constexpr(math.log(2))


@triton.jit
def flash_forward_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    H,
    Sq,
    Sk,
    qk_scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """o and lse of BLOCK_M queries of one head, from all keys and values that they see."""
    # TODO 1: find this program's batch, head and BLOCK_M queries, and read these queries: they stay.
    # TODO 2: how many keys does each row see? So which blocks do all rows see whole, and which none at all?
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
    # TODO 6: choose the blocks, num_warps and num_stages by dtype and D. A T4 has room for less than an H100.
    # TODO 7: launch a program for each block of queries of each head, on one axis; log2(e) joins the scale.
    return o, lse

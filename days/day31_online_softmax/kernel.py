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
    # TODO 1: find this program's head and queries, point at its queries and at the head's first keys, read q.
    # TODO 2: start a maximum and a sum for each query, as if the query had seen no key yet.
    # TODO 3: where may the keys end: behind the last one that some query of this program sees?
    # TODO 4: for every tile of keys: scale the scores; what is no key, or is not seen, must not count.
    # TODO 5: the new maximum, the old sum rescaled to it, the new terms added. Mind rows that saw nothing.
    # TODO 6: write the natural logarithm of each query's whole sum.


def attention_lse(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """Return the natural logsumexp, fp32 [B, H, Sq], of each query's scores; D <= 128.

    q is [B, H, Sq, D] and k is [B, H, Sk, D]. If causal, query i sees the keys up to i + Sk - Sq alone.
    """
    B, H, Sq = q.shape[:3]
    lse = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    # TODO 7: choose the three block sizes, and launch a program for every tile of queries of every head.
    return lse

"""Day 30: (q kᵀ · scale) v tile by tile: no score ever leaves the chip."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def tiled_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
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
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M rows of one head's (q kᵀ · scale) v, BLOCK_N keys at a time; BLOCK_D >= D."""
    # TODO 1: which head of which sequence is this program's, and which of its BLOCK_M queries?
    # TODO 2: read those queries once; lanes past Sq, or past D, hold what adds nothing to a score.
    # TODO 3: point at the first BLOCK_N keys, so that they arrive as kᵀ, and at their values.
    # TODO 4: for every tile of keys: scores, scale, and on to the product with v. Keep the sum in fp32.
    # TODO 5: in the last tile, let nothing past Sk take part, on either side. Then move both pointers on.
    # TODO 6: write the tile of the result, every one of its D columns, and nothing else.


def tiled_attention_scores(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """Return (q kᵀ · scale) v as a new [B, H, Sq, D], for q[B, H, Sq, D] and k, v[B, H, Sk, D], D <= 128."""
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    # TODO 7: choose the three block sizes, and launch a program for every tile of queries of every head.
    return o

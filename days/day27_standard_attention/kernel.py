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
    # TODO 1: from the program's number, find batch, head and tile: which queries and keys.
    # TODO 2: read that head's queries and keys of the tile; what lies past Sq, Sk or D must add nothing.
    # TODO 3: multiply each query with each key, in fp32, and scale.
    # TODO 4: if CAUSAL, make the scores of keys that a query may not see lose every maximum and add nothing.
    # TODO 5: write the tile into this head's scores, whose rows are Sk apart.


@triton.jit
def softmax_kernel(s_ptr, p_ptr, n_rows, Sk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_M rows of p = softmax(s), BLOCK_N >= Sk; a row that sees no key gets weights of 0."""
    # TODO 6: day 13's softmax, from s to p, for a tile of rows (one row a program is as right: BLOCK_M = 1).
    # TODO 7: what happens to a row that is all -inf, and what should?


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
    # TODO 8: find batch, head and queries; the output tile holds all D columns.
    # TODO 9: day 17's loop, along the keys: weights times values, added up in fp32.
    # TODO 10: write the tile of o, which is new and contiguous.


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """Return softmax(q @ k.T * scale) @ v of every head, for q[B, H, Sq, D] and k, v[B, H, Sk, D].

    Causal: query i sees keys 0 to i + Sk - Sq; one that sees no key gives 0. D <= 128, Sk <= 16384.
    """
    B, H, Sq, D = q.shape
    # TODO 11: allocate scores and weights. Which dtype can hold any score?
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    # TODO 12: choose the blocks, BLOCK_D for any D up to 128, and launch the three kernels in order.
    return o

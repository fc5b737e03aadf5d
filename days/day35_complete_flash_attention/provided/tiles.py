"""Pieces of days 32 and 34 that kernels are made of here: import what you need, change nothing.

A head is rows of D numbers. A block of it is [BLOCK, BLOCK_D], with BLOCK_D a power of 2, and at least D.
"""

from __future__ import annotations

import math

import triton
import triton.language as tl

LOG2_E = tl.constexpr(math.log2(math.e))


@triton.jit
def load_rows(
    x_ptr, start, n_rows, stride_xm, stride_xd, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr
):
    """Rows start to start + BLOCK of one head as [BLOCK, BLOCK_D]; 0 where there is no row or no column."""
    offs_m = tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    # 64 bits for the block's start: rows may lie far apart.
    x_ptrs = x_ptr + tl.cast(start, tl.int64) * stride_xm
    x_ptrs += offs_m[:, None] * stride_xm + offs_d[None, :] * stride_xd
    return tl.load(x_ptrs, mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)


@triton.jit
def store_rows(x_ptr, x, start, n_rows, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    """Write rows start to start + BLOCK of one head of a contiguous tensor."""
    offs_m = start + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    x_ptrs = x_ptr + offs_m[:, None].to(tl.int64) * D + offs_d[None, :]
    tl.store(x_ptrs, x, mask=(offs_m < n_rows)[:, None] & (offs_d < D)[None, :])


@triton.jit
def keys_seen(offs_m, Sq, Sk, CAUSAL: tl.constexpr):
    """How many keys each query sees: the first so many. One limit for the diagonal and the last key."""
    visible = tl.zeros_like(offs_m) + Sk
    if CAUSAL:
        visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)
    return visible


@triton.jit
def attend(q, k, v, seen, scale, m_i, l_i, acc):
    """One turn of day 32's loop: m_i in base 2, l_i and acc, with the keys and values of this tile added."""
    qk = tl.dot(q, k.T, input_precision="ieee") * (scale * LOG2_E)
    qk = tl.where(seen, qk, -float("inf"))
    m_new = tl.maximum(m_i, tl.max(qk, axis=1))
    p = tl.exp2(qk - m_new[:, None])
    alpha = tl.exp2(m_i - m_new)
    l_i = l_i * alpha + tl.sum(p, axis=1)
    acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
    return m_new, l_i, acc


@triton.jit
def dscores(q, do, k, v, lse2, delta, seen, scale):
    """p and ds of one tile, day 34's, with lse in base 2: queries down, keys across.

    With the sides exchanged, k and v for q and do, it gives pᵀ and dsᵀ. lse2, delta and seen lie accordingly.
    """
    # Rounded as in `attend`: were p not the weights of o and delta, what ds adds up to would not be 0.
    qk = tl.dot(q, k.T, input_precision="ieee") * (scale * LOG2_E)
    # Chosen, not multiplied by 0: a hidden score may be far above lse2, and its exp2 Inf.
    p = tl.where(seen, tl.exp2(qk - lse2), 0.0)
    dp = tl.dot(do, v.T, input_precision="ieee")
    ds = p * (dp - delta)
    return p, ds

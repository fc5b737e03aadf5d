"""Extra: one query a head against a long cache: the keys are split over programs, whose softmaxes merge."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
PROGRAMS = 1024  # several for each of an H200's 132 SMs: while one waits for memory, others compute


@triton.jit
def attend(q, k, v, seen, scale, m_i, l_i, acc):
    """Day 29's (m, l, o), with BLOCK_N keys more; m is in base 2.

    q[16, D], the query in its first row; m_i, l_i[16], acc[16, D] fp32; k, v[BLOCK_N, D]; seen[BLOCK_N]: keys
    that are not seen weigh nothing.
    """
    # 15 rows of 16 are idle, and still this is the quicker way: sums along d, a key at a time, go from thread
    # to thread, and loads for a dot come two blocks ahead.
    s = tl.dot(q, tl.trans(k)) * (scale * LOG2_E)
    s = tl.where(seen[None, :], s, -float("inf"))
    m_new = tl.maximum(m_i, tl.max(s, axis=1))
    p = tl.exp2(s - m_new[:, None])
    alpha = tl.exp2(m_i - m_new)
    l_i = l_i * alpha + tl.sum(p, axis=1)
    acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
    return m_new, l_i, acc


@triton.jit
def split_kernel(
    q_ptr, k_ptr, v_ptr, lengths_ptr, m_ptr, l_ptr, o_ptr, n_heads, scale,
    stride_kb, stride_ks, stride_kh, stride_vb, stride_vs, stride_vh,
    D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """(m, l, o) of one query over the keys of one split: program (query, split) of [b · h, n_splits]."""
    # TODO 1: where do this sequence's keys and values begin, and which of them belong to this split?
    # TODO 2: load the query, in row 0 of 16, and let attend() add up the split's keys. A split may be empty.
    # TODO 3: leave m, l and the unnormalised o where no other program stores.


@triton.jit
def merge_kernel(
    m_ptr, l_ptr, o_ptr, out_ptr, n_splits, D: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr
):
    """out[query] from the (m, l, o) of its splits; BLOCK_S >= n_splits."""
    # TODO 4: bring what the splits of this query left to one maximum, and divide once. Without keys: 0.


def choose_splits(queries: int, keys: int, block: int) -> int:
    """Return how many programs share the keys of a query: enough to fill the GPU, at most 32, one a block."""
    wanted = min(triton.cdiv(PROGRAMS, max(queries, 1)), 32)
    return max(min(wanted, triton.cdiv(keys, block)), 1)


def decode_attention(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, scale: float
) -> torch.Tensor:
    """Return softmax(q kᵀ · scale) v as [b, h, d], over the first lengths[i] keys of sequence i.

    q[b, h, d] contiguous; k_cache, v_cache[b, s, h, d] of any strides, d contiguous; lengths[b] int32.
    """
    B, H, D = q.shape
    S = k_cache.shape[1]
    BLOCK_D = triton.next_power_of_2(D)
    # 16 KB of k and as many of v, twice on their way: 72 KB of shared memory a program.
    BLOCK_N = 8192 // BLOCK_D
    n_splits = choose_splits(B * H, S, BLOCK_N)
    out = torch.empty(B, H, D, dtype=q.dtype, device=q.device)
    maxima = torch.empty(B * H, n_splits, dtype=torch.float32, device=q.device)
    sums = torch.empty_like(maxima)
    parts = torch.empty(B * H, n_splits, D, dtype=torch.float32, device=q.device)
    # TODO 5: launch a program for each split of each query, then one for each query.
    return out

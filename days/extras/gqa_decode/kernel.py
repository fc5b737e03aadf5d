"""Extra: a decoding step of grouped heads: all query heads of a key head are rows of one product."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
PROGRAMS = 1024  # several for each of an H200's 132 SMs: while one waits for memory, others compute


@triton.jit
def merge_kernel(
    m_ptr, l_ptr, o_ptr, out_ptr, n_splits, D: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr
):
    """out[query] from its splits' (m, l, o) of day 29, m in base 2, o not divided; BLOCK_S >= n_splits."""
    query = tl.program_id(0).to(tl.int64)
    offs_s, offs_d = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_D)
    # A part that is not there is like an empty one: the lowest maximum, and a sum of 0.
    m_s = tl.load(m_ptr + query * n_splits + offs_s, mask=offs_s < n_splits, other=LOWEST)
    l_s = tl.load(l_ptr + query * n_splits + offs_s, mask=offs_s < n_splits, other=0.0)
    o_ptrs = o_ptr + (query * n_splits + offs_s)[:, None] * D + offs_d[None, :]
    mask = (offs_s < n_splits)[:, None] & (offs_d < D)[None, :]
    o_s = tl.load(o_ptrs, mask=mask, other=0.0)
    factor = tl.exp2(m_s - tl.max(m_s, axis=0))
    l_i = tl.sum(l_s * factor, axis=0)
    o = tl.sum(o_s * factor[:, None], axis=0) / tl.where(l_i == 0, 1.0, l_i)
    tl.store(out_ptr + query * D + offs_d, o, mask=offs_d < D)


@triton.jit
def group_kernel(
    q_ptr, k_ptr, v_ptr, lengths_ptr, m_ptr, l_ptr, o_ptr, n_kv, scale,
    stride_kb, stride_ks, stride_kh, stride_vb, stride_vs, stride_vh,
    GROUP: tl.constexpr, D: tl.constexpr,
    BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """(m, l, o) of the GROUP queries of one key head over the keys of one split; BLOCK_G >= GROUP.

    The grid is [b · h_k, n_splits]; query j leaves its part of split i at j · n_splits + i.
    """
    # TODO 1: which sequence and which key head is it, and which of its keys belong to this split?
    # TODO 2: load the group's queries as rows of one tile.
    # TODO 3: walk over the split's keys, every one of them for all rows at once. A split may be empty.
    # TODO 4: leave m, l and the unnormalised o of each query that is there.


def choose_splits(groups: int, keys: int, block: int) -> int:
    """Return how many programs share the keys of a group: enough to fill the GPU, at most 16, one a block."""
    wanted = min(triton.cdiv(PROGRAMS, max(groups, 1)), 16)
    return max(min(wanted, triton.cdiv(keys, block)), 1)


def gqa_decode(
    q: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor, lengths: torch.Tensor, scale: float
) -> torch.Tensor:
    """Return softmax(q kᵀ · scale) v as [b, h, d], over the first lengths[i] keys of sequence i.

    q[b, h, d] contiguous; k_cache, v_cache[b, s, h_k, d] of any strides, d contiguous; lengths[b] int32.
    Query head j reads key head j // (h // h_k); h // h_k is at most 16.
    """
    B, H, D = q.shape
    S, n_kv = k_cache.shape[1:3]
    BLOCK_D = triton.next_power_of_2(D)
    BLOCK_N = 8192 // BLOCK_D
    n_splits = choose_splits(B * n_kv, S, BLOCK_N)
    out = torch.empty(B, H, D, dtype=q.dtype, device=q.device)
    maxima = torch.empty(B * H, n_splits, dtype=torch.float32, device=q.device)
    sums = torch.empty_like(maxima)
    parts = torch.empty(B * H, n_splits, D, dtype=torch.float32, device=q.device)
    # TODO 5: launch a program for each split of each group.
    merge_kernel[(B * H,)](
        maxima, sums, parts, out, n_splits,
        D=D, BLOCK_S=triton.next_power_of_2(n_splits), BLOCK_D=BLOCK_D, num_warps=4,
    )  # fmt: skip
    return out

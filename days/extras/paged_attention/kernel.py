"""Extra: a decoding step over a cache in pages, which a table finds."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
PROGRAMS = 4096  # many for each of an H200's 132 SMs: sequences may be of very different lengths


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
def paged_kernel(
    q_ptr, k_ptr, v_ptr, tables_ptr, lengths_ptr, m_ptr, l_ptr, o_ptr, n_kv, max_pages, scale,
    GROUP: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr,
    BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """(m, l, o) of the GROUP queries of one key head over the keys of one split; BLOCK_G >= GROUP.

    The grid is [b · h_k, n_splits]; query j leaves its part of split i at j · n_splits + i.
    """
    # 64 bits: q may have 2**31 elements and more.
    pid = tl.program_id(0).to(tl.int64)
    tables_ptr += pid // n_kv * max_pages
    k_ptr += pid % n_kv * D
    v_ptr += pid % n_kv * D
    # Every sequence is cut into n_splits shares of whole blocks; of a short one some are empty.
    length = tl.load(lengths_ptr + pid // n_kv)
    share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(1)) * BLOCK_N
    first = tl.program_id(1) * share
    end = tl.minimum(first + share, length)
    offs_g, offs_d = tl.arange(0, BLOCK_G), tl.arange(0, BLOCK_D)
    queries = pid * GROUP + offs_g
    there = (offs_g < GROUP)[:, None] & (offs_d < D)[None, :]
    q = tl.load(q_ptr + queries[:, None] * D + offs_d[None, :], mask=there, other=0.0)
    m_i = tl.full((BLOCK_G,), LOWEST, tl.float32)
    l_i = tl.zeros((BLOCK_G,), tl.float32)
    acc = tl.zeros((BLOCK_G, BLOCK_D), tl.float32)
    for start_n in range(first, end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        # TODO 1: which of these keys are there, and which page and which place in it has each?
        # TODO 2: load the keys and values of this program's head from there, and of nobody behind the end.
        # TODO 3: day 32's step, for all rows at once: scores, a new maximum, what was summed rescaled.
    # Rows past the group would be the next group's queries: another program stores those.
    parts = queries * tl.num_programs(1) + tl.program_id(1)
    tl.store(m_ptr + parts, m_i, mask=offs_g < GROUP)
    tl.store(l_ptr + parts, l_i, mask=offs_g < GROUP)
    tl.store(o_ptr + parts[:, None] * D + offs_d[None, :], acc, mask=there)


def choose_splits(groups: int, keys: int, block: int) -> int:
    """Return how many programs share the keys of a group: enough to fill the GPU, at most 16, one a block."""
    wanted = min(triton.cdiv(PROGRAMS, max(groups, 1)), 16)
    return max(min(wanted, triton.cdiv(keys, block)), 1)


def paged_attention(
    q: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
) -> torch.Tensor:
    """Return softmax(q kᵀ · scale) v as [b, h, d], over the first lengths[i] keys of sequence i.

    Its key j is key_cache[block_tables[i, j // page_size], j % page_size]. q[b, h, d]; caches
    [pages, page_size, h_k, d]; block_tables[b, max_pages] and lengths[b] int32; all contiguous.
    Query head j reads key head j // (h // h_k); h // h_k is at most 16.
    """
    B, H, D = q.shape
    PAGE, n_kv = key_cache.shape[1:3]
    max_pages = block_tables.shape[1]
    BLOCK_D = triton.next_power_of_2(D)
    BLOCK_N = 8192 // BLOCK_D
    n_splits = choose_splits(B * n_kv, max_pages * PAGE, BLOCK_N)
    out = torch.empty(B, H, D, dtype=q.dtype, device=q.device)
    maxima = torch.empty(B * H, n_splits, dtype=torch.float32, device=q.device)
    sums = torch.empty_like(maxima)
    parts = torch.empty(B * H, n_splits, D, dtype=torch.float32, device=q.device)
    paged_kernel[(B * n_kv, n_splits)](
        q, key_cache, value_cache, block_tables, lengths, maxima, sums, parts, n_kv, max_pages, scale,
        GROUP=H // n_kv, PAGE=PAGE, D=D, BLOCK_G=16, BLOCK_N=BLOCK_N, BLOCK_D=BLOCK_D,
        num_warps=4, num_stages=3,
    )  # fmt: skip
    merge_kernel[(B * H,)](
        maxima, sums, parts, out, n_splits,
        D=D, BLOCK_S=triton.next_power_of_2(n_splits), BLOCK_D=BLOCK_D, num_warps=4,
    )  # fmt: skip
    return out

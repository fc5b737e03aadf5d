"""Plain products, as there is one query: sums along d for each key, and no matrix unit."""

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

    q[D] and acc[D] fp32, k and v[BLOCK_N, D], seen[BLOCK_N]; keys that are not seen weigh nothing.
    """
    # One query is too few for the matrix units. Memory sets the pace, not these products.
    s = tl.sum(q[None, :] * k.to(tl.float32), axis=1) * (scale * LOG2_E)
    s = tl.where(seen, s, -float("inf"))
    m_new = tl.maximum(m_i, tl.max(s, axis=0))
    p = tl.exp2(s - m_new)
    alpha = tl.exp2(m_i - m_new)
    l_i = l_i * alpha + tl.sum(p, axis=0)
    acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), axis=0)
    return m_new, l_i, acc


@triton.jit
def split_kernel(
    q_ptr, k_ptr, v_ptr, lengths_ptr, m_ptr, l_ptr, o_ptr, n_heads, scale,
    stride_kb, stride_ks, stride_kh, stride_vb, stride_vs, stride_vh,
    D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """(m, l, o) of one query over the keys of one split: program (query, split) of [b · h, n_splits]."""
    # 64 bits: a sequence of the cache may start 2**31 elements and more behind the first one.
    pid_b, pid_h = (tl.program_id(0) // n_heads).to(tl.int64), (tl.program_id(0) % n_heads).to(tl.int64)
    k_ptr += pid_b * stride_kb + pid_h * stride_kh
    v_ptr += pid_b * stride_vb + pid_h * stride_vh
    # The length stays on the device. Every sequence is cut into n_splits shares of whole blocks; of a short
    # one some are empty.
    length = tl.load(lengths_ptr + pid_b)
    share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(1)) * BLOCK_N
    first = tl.program_id(1) * share
    end = tl.minimum(first + share, length)
    offs_d = tl.arange(0, BLOCK_D)
    q = tl.load(q_ptr + tl.program_id(0).to(tl.int64) * D + offs_d, mask=offs_d < D, other=0.0).to(tl.float32)
    m_i = tl.full((), LOWEST, tl.float32)
    l_i = tl.zeros((), tl.float32)
    acc = tl.zeros((BLOCK_D,), tl.float32)
    # All splits together read each key and each value once: 4 * D bytes for 4 * D operations.
    for start_n in range(first, end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N).to(tl.int64)
        seen = offs_n < end
        mask = seen[:, None] & (offs_d < D)[None, :]
        k = tl.load(k_ptr + offs_n[:, None] * stride_ks + offs_d[None, :], mask=mask, other=0.0)
        v = tl.load(v_ptr + offs_n[:, None] * stride_vs + offs_d[None, :], mask=mask, other=0.0)
        m_i, l_i, acc = attend(q, k, v, seen, scale, m_i, l_i, acc)
    # Stored even if the split is empty: what stood there before must not be merged.
    part = tl.program_id(0).to(tl.int64) * tl.num_programs(1) + tl.program_id(1)
    tl.store(m_ptr + part, m_i)
    tl.store(l_ptr + part, l_i)
    tl.store(o_ptr + part * D + offs_d, acc, mask=offs_d < D)


@triton.jit
def merge_kernel(
    m_ptr, l_ptr, o_ptr, out_ptr, n_splits, D: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr
):
    """out[query] from the (m, l, o) of its splits; BLOCK_S >= n_splits."""
    query = tl.program_id(0).to(tl.int64)
    offs_s, offs_d = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_D)
    # All parts at once: one round trip to memory, where a loop over the splits would wait for each of them.
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
    # 64 numbers of k and as many of v a thread.
    BLOCK_N = 8192 // BLOCK_D
    n_splits = choose_splits(B * H, S, BLOCK_N)
    out = torch.empty(B, H, D, dtype=q.dtype, device=q.device)
    maxima = torch.empty(B * H, n_splits, dtype=torch.float32, device=q.device)
    sums = torch.empty_like(maxima)
    parts = torch.empty(B * H, n_splits, D, dtype=torch.float32, device=q.device)
    # Heads side by side on the grid's long axis: their keys lie side by side in memory.
    split_kernel[(B * H, n_splits)](
        q, k_cache, v_cache, lengths, maxima, sums, parts, H, scale,
        *k_cache.stride()[:3], *v_cache.stride()[:3],
        D=D, BLOCK_N=BLOCK_N, BLOCK_D=BLOCK_D, num_warps=4, num_stages=2,
    )  # fmt: skip
    merge_kernel[(B * H,)](
        maxima, sums, parts, out, n_splits,
        D=D, BLOCK_S=triton.next_power_of_2(n_splits), BLOCK_D=BLOCK_D, num_warps=4,
    )  # fmt: skip
    return out

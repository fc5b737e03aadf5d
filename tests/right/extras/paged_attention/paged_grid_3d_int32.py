"""Paged decoding in vLLM names: grid (sequences, key heads, segments), a block table, segments merged.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel_paged_segments(
    query_ptr, key_cache_ptr, value_cache_ptr, block_tables_ptr, seq_lens_ptr, segm_out, segm_max, segm_sum,
    scale, block_table_stride, stride_k_page, stride_k_tok, stride_k_head,
    num_queries_per_kv: tl.constexpr, BLOCK_SIZE: tl.constexpr, HEAD_SIZE: tl.constexpr,
    HEAD_SIZE_PADDED: tl.constexpr, TILE: tl.constexpr, BLOCK_H: tl.constexpr, NUM_SEGMENTS: tl.constexpr,
):  # fmt: skip
    seq_idx, kv_head, segm = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    seq_len = tl.load(seq_lens_ptr + seq_idx)
    tiles_per_segment = tl.cdiv(seq_len, NUM_SEGMENTS * TILE)
    first = segm * tiles_per_segment * TILE
    last = tl.minimum(first + tiles_per_segment * TILE, seq_len)
    offs_d = tl.arange(0, HEAD_SIZE_PADDED)
    offs_h = tl.arange(0, BLOCK_H)
    head = (seq_idx * tl.num_programs(1) + kv_head) * num_queries_per_kv + offs_h
    mask_q = (offs_h < num_queries_per_kv)[:, None] & (offs_d < HEAD_SIZE)[None, :]
    Q = tl.load(query_ptr + head[:, None] * HEAD_SIZE + offs_d[None, :], mask=mask_q, other=0.0)
    M = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    L = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, HEAD_SIZE_PADDED], dtype=tl.float32)
    for j in range(first, last, TILE):
        offs_n = j + tl.arange(0, TILE)
        mask_n = offs_n < last
        page = tl.load(
            block_tables_ptr + seq_idx * block_table_stride + offs_n // BLOCK_SIZE, mask=mask_n, other=0
        )
        tok = page * stride_k_page + (offs_n % BLOCK_SIZE) * stride_k_tok + kv_head * stride_k_head
        mask_kv = mask_n[:, None] & (offs_d < HEAD_SIZE)[None, :]
        K = tl.load(key_cache_ptr + tok[:, None] + offs_d[None, :], mask=mask_kv, other=0.0)
        V = tl.load(value_cache_ptr + tok[:, None] + offs_d[None, :], mask=mask_kv, other=0.0)
        S = tl.where(mask_n[None, :], scale * tl.dot(Q, tl.trans(K)), float("-inf"))
        m_j = tl.maximum(M, tl.max(S, axis=1))
        m_j = tl.where(m_j > float("-inf"), m_j, 0.0)
        P = tl.exp(S - m_j[:, None])
        alpha = tl.exp(M - m_j)
        L = L * alpha + tl.sum(P, axis=1)
        acc = acc * alpha[:, None] + tl.dot(P.to(V.dtype), V)
        M = m_j
    slot = head * NUM_SEGMENTS + segm
    tl.store(segm_out + slot[:, None] * HEAD_SIZE + offs_d[None, :], acc, mask=mask_q)
    tl.store(segm_max + slot, M, mask=offs_h < num_queries_per_kv)
    tl.store(segm_sum + slot, L, mask=offs_h < num_queries_per_kv)


@triton.jit
def reduce_segments(
    out_ptr, segm_out, segm_max, segm_sum,
    HEAD_SIZE: tl.constexpr, HEAD_SIZE_PADDED: tl.constexpr, NUM_SEGMENTS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    segm, d = tl.arange(0, NUM_SEGMENTS), tl.arange(0, HEAD_SIZE_PADDED)
    m = tl.load(segm_max + row * NUM_SEGMENTS + segm)
    overall = tl.max(m)
    w = tl.exp(m - tl.where(overall > float("-inf"), overall, 0.0))
    total = tl.sum(tl.load(segm_sum + row * NUM_SEGMENTS + segm) * w)
    o_ptrs = segm_out + (row * NUM_SEGMENTS + segm)[:, None] * HEAD_SIZE + d[None, :]
    o = tl.load(o_ptrs, mask=(d < HEAD_SIZE)[None, :], other=0.0)
    acc = tl.sum(o * w[:, None], axis=0)
    acc = tl.where(total == 0.0, 0.0, acc / total)
    tl.store(out_ptr + row * HEAD_SIZE + d, acc.to(out_ptr.dtype.element_ty), mask=d < HEAD_SIZE)


def paged_attention(q, key_cache, value_cache, block_tables, lengths, scale):
    num_seqs, num_heads, head_size = q.shape
    block_size, num_kv_heads = key_cache.shape[1:3]
    assert key_cache.shape == value_cache.shape and num_heads % num_kv_heads == 0
    out = torch.empty_like(q)
    padded = triton.next_power_of_2(head_size)
    keys = block_tables.shape[1] * block_size
    segments = min(16, triton.next_power_of_2(max(triton.cdiv(keys, 256), 1)))
    segm_out = torch.empty(num_seqs, num_heads, segments, head_size, dtype=torch.float32, device=q.device)
    segm_max = torch.empty(num_seqs, num_heads, segments, dtype=torch.float32, device=q.device)
    segm_sum = torch.empty_like(segm_max)
    kernel_paged_segments[(num_seqs, num_kv_heads, segments)](
        q, key_cache, value_cache, block_tables, lengths, segm_out, segm_max, segm_sum, scale,
        block_tables.stride(0), *key_cache.stride()[:3], num_queries_per_kv=num_heads // num_kv_heads,
        BLOCK_SIZE=block_size, HEAD_SIZE=head_size, HEAD_SIZE_PADDED=padded,
        TILE=64 if padded <= 128 else 32, BLOCK_H=16, NUM_SEGMENTS=segments, num_warps=4, num_stages=3,
    )  # fmt: skip
    reduce_segments[(num_seqs, num_heads)](
        out, segm_out, segm_max, segm_sum, HEAD_SIZE=head_size, HEAD_SIZE_PADDED=padded, NUM_SEGMENTS=segments
    )
    return out

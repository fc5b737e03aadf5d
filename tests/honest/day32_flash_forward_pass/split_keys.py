"""Keys in two parts, each with programs of its own; a second kernel merges the parts as on day 29."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2E = 1.4426950408889634


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, heads, per_batch, n_q, n_k, step, scale2,
    stride_qb, stride_qh, stride_qs, stride_kb, stride_kh, stride_ks, stride_vb, stride_vh, stride_vs,
    CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """One part of the keys for one block of queries: normalised o in fp32, and lse in base 2."""
    blocks = tl.cdiv(n_q, BLOCK_M)
    block = blocks - 1 - tl.program_id(0) % blocks
    head = (tl.program_id(0) // blocks).to(tl.int64)
    part = tl.program_id(1)
    b = head // per_batch
    h = head - b * per_batch
    i = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    here = (i < n_q)[:, None] & (d < D)[None, :]
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + i[:, None].to(tl.int64) * stride_qs + d[None, :],
                mask=here, other=0.0)  # fmt: skip
    first = part * step
    limit = tl.minimum(first + step, n_k)
    if CAUSAL:
        limit = tl.minimum(limit, (block + 1) * BLOCK_M + n_k - n_q)
    m_i = tl.full((BLOCK_M,), -1e38, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start in range(first, limit, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        there = (j < limit)[:, None] & (d < D)[None, :]
        k = tl.load(k_ptr + b * stride_kb + h * stride_kh + j[:, None].to(tl.int64) * stride_ks + d[None, :],
                    mask=there, other=0.0)  # fmt: skip
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale2
        if CAUSAL:
            s = tl.where((j < limit)[None, :] & (j[None, :] - i[:, None] <= n_k - n_q), s, -float("inf"))
        elif start + BLOCK_N > limit:
            s = tl.where((j < limit)[None, :], s, -float("inf"))
        top = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp2(s - top[:, None])
        alpha = tl.exp2(m_i - top)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + b * stride_vb + h * stride_vh + j[:, None].to(tl.int64) * stride_vs + d[None, :],
                    mask=there, other=0.0)  # fmt: skip
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = top
    row = (part * heads + head) * n_q + i
    safe = tl.where(l_i == 0, 1.0, l_i)
    tl.store(o_ptr + row[:, None] * D + d[None, :], acc / safe[:, None], mask=here)
    tl.store(lse_ptr + row, m_i + tl.log2(l_i), mask=i < n_q)


@triton.jit
def merge_kernel(
    parts_o_ptr, parts_lse_ptr, o_ptr, lse_ptr, n_rows, PARTS: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    here = (row < n_rows)[:, None] & (d < D)[None, :]
    top = tl.full((BLOCK_M,), -1e38, tl.float32)
    for part in tl.static_range(PARTS):
        top = tl.maximum(top, tl.load(parts_lse_ptr + part * n_rows + row, mask=row < n_rows, other=0.0))
    weight = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for part in tl.static_range(PARTS):
        lse = tl.load(parts_lse_ptr + part * n_rows + row, mask=row < n_rows, other=0.0)
        share = tl.exp2(lse - top)
        o = tl.load(parts_o_ptr + (part * n_rows + row)[:, None] * D + d[None, :], mask=here, other=0.0)
        acc += share[:, None] * o
        weight += share
    o = acc / tl.where(weight == 0, 1.0, weight)[:, None]
    tl.store(o_ptr + row[:, None] * D + d[None, :], o.to(o_ptr.dtype.element_ty), mask=here)
    tl.store(lse_ptr + row, (top + tl.log2(weight)) / 1.4426950408889634, mask=row < n_rows)


def flash_forward(q, k, v, scale, causal):
    B, H, n_q, D = q.shape
    n_k, parts = k.shape[2], 2
    o = torch.empty((B, H, n_q, D), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, n_q), dtype=torch.float32, device=q.device)
    parts_o = torch.empty((parts, B, H, n_q, D), dtype=torch.float32, device=q.device)
    parts_lse = torch.empty((parts, B, H, n_q), dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = (64, 32) if q.element_size() == 4 and q.is_cuda else (128, 64)
    BLOCK_D = max(16, triton.next_power_of_2(D))
    step = triton.cdiv(triton.cdiv(n_k, parts), BLOCK_N) * BLOCK_N
    part_kernel[(triton.cdiv(n_q, BLOCK_M) * B * H, parts)](
        q, k, v, parts_o, parts_lse, B * H, H, n_q, n_k, step, scale * LOG2E,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        CAUSAL=causal, D=D, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=BLOCK_D,
        num_warps=8, num_stages=2,
    )  # fmt: skip
    rows = B * H * n_q
    merge_kernel[(triton.cdiv(rows, 64),)](
        parts_o, parts_lse, o, lse, rows, PARTS=parts, D=D, BLOCK_M=64, BLOCK_D=BLOCK_D
    )
    return o, lse

"""Flash decoding in chunks of a fixed size, empty ones return early; plain products, int64 batch and head.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _decode_chunk(
    Q, K, V, Lens, Mid_O, Mid_M, Mid_L, qk_scale, chunk, skb, sks, skh, svb, svs, svh,
    D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    part, h = tl.program_id(0), tl.program_id(1).to(tl.int64)
    b = tl.program_id(2).to(tl.int64)
    length = tl.load(Lens + b)
    start, end = part * chunk, tl.minimum((part + 1) * chunk, length)
    row = (b * tl.num_programs(1) + h) * tl.num_programs(0) + part
    if start >= length:
        tl.store(Mid_M + row, float("-inf"))
        tl.store(Mid_L + row, 0.0)
        return
    d = tl.arange(0, BLOCK_D)
    q = tl.load(Q + (b * tl.num_programs(1) + h) * D + d, mask=d < D, other=0.0).to(tl.float32) * qk_scale
    m_i = -float("inf")
    l_i = 0.0
    acc = tl.zeros([BLOCK_D], tl.float32)
    for n in range(start, end, BLOCK_N):
        offs = (n + tl.arange(0, BLOCK_N)).to(tl.int64)
        mask = (offs < end)[:, None] & (d < D)[None, :]
        k = tl.load(K + b * skb + h * skh + offs[:, None] * sks + d[None, :], mask=mask, other=0.0)
        v = tl.load(V + b * svb + h * svh + offs[:, None] * svs + d[None, :], mask=mask, other=0.0)
        s = tl.sum(q[None, :] * k.to(tl.float32), axis=1)
        s = tl.where(offs < end, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 0))
        m_sub = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp2(s - m_sub)
        alpha = tl.exp2(m_i - m_sub)
        l_i = l_i * alpha + tl.sum(p, 0)
        acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), axis=0)
        m_i = m_new
    tl.store(Mid_O + row * D + d, acc, mask=d < D)
    tl.store(Mid_M + row, m_i)
    tl.store(Mid_L + row, l_i)


@triton.jit
def _reduce(Mid_O, Mid_M, Mid_L, Out, n_parts, D: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    part, d = tl.arange(0, BLOCK_P), tl.arange(0, BLOCK_D)
    m = tl.load(Mid_M + row * n_parts + part, mask=part < n_parts, other=float("-inf"))
    l_p = tl.load(Mid_L + row * n_parts + part, mask=part < n_parts, other=0.0)
    top = tl.max(m, 0)
    w = tl.exp2(m - tl.where(top == float("-inf"), 0.0, top))
    # parts without a key left no o behind
    mask = (part < n_parts)[:, None] & (l_p > 0)[:, None] & (d < D)[None, :]
    o = tl.load(Mid_O + (row * n_parts + part)[:, None] * D + d[None, :], mask=mask, other=0.0)
    total = tl.sum(w * l_p, 0)
    out = tl.sum(w[:, None] * o, 0) / tl.where(total == 0, 1.0, total)
    tl.store(Out + row * D + d, out.to(Out.dtype.element_ty), mask=d < D)


def decode_attention(q, k_cache, v_cache, lengths, scale):
    B, H, D = q.shape
    S = k_cache.shape[1]
    BLOCK_D = triton.next_power_of_2(D)
    BLOCK_N = max(4096 // BLOCK_D, 16)
    chunk = max(triton.cdiv(triton.cdiv(S, 32), BLOCK_N) * BLOCK_N, 8 * BLOCK_N)
    n_parts = max(triton.cdiv(S, chunk), 1)
    out = torch.empty_like(q)
    mid_o = q.new_empty((B, H, n_parts, D), dtype=torch.float32)
    mid_m, mid_l = (q.new_empty((B, H, n_parts), dtype=torch.float32) for _ in range(2))
    _decode_chunk[(n_parts, H, B)](
        q, k_cache, v_cache, lengths, mid_o, mid_m, mid_l, scale * 1.4426950408889634, chunk,
        *k_cache.stride()[:3], *v_cache.stride()[:3], D=D, BLOCK_N=BLOCK_N, BLOCK_D=BLOCK_D,
        num_warps=4, num_stages=3,
    )  # fmt: skip
    _reduce[(B * H,)](
        mid_o, mid_m, mid_l, out, n_parts, D=D, BLOCK_P=triton.next_power_of_2(n_parts), BLOCK_D=BLOCK_D
    )
    return out

"""Keys shared out among programs, each with its own maximum and sum; a second kernel merges. In base 2."""

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit
def part_of_keys(
    q_ptr, k_ptr, top_ptr, sum_ptr, H, M, N, D, scale, offset, qb, qh, qm, qd, kb, kh, kn, kd,
    PARTS: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, TD: tl.constexpr,
):  # fmt: skip
    head, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    tiles = tl.cdiv(M, TM)
    tile, head = head % tiles, head // tiles
    m = tile * TM + tl.arange(0, TM)
    d = tl.arange(0, TD)
    q_at = q_ptr + head // H * qb + head % H * qh + m[:, None] * qm + d[None, :] * qd
    q = tl.load(q_at, mask=(m < M)[:, None] & (d < D)[None, :], other=0.0)
    top = tl.full((TM,), float("-inf"), tl.float32)
    total = tl.full((TM,), 0.0, tl.float32)
    for start in range(part * TN, N, PARTS * TN):
        n = (start + tl.arange(0, TN)).to(tl.int64)
        k_at = k_ptr + head // H * kb + head % H * kh + n[None, :] * kn + d[:, None] * kd
        k = tl.load(k_at, mask=(d < D)[:, None] & (n < N)[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * (scale * LOG2_E)
        hidden = (n >= N)[None, :] | (n[None, :] > m[:, None] + offset)
        s = tl.where(hidden, float("-inf"), s)
        new = tl.maximum(tl.max(s, axis=1), top)
        base = tl.where(new == float("-inf"), 0.0, new)
        total = total * tl.exp2(top - base) + tl.sum(tl.exp2(s - base[:, None]), axis=1)
        top = new
    at = (head * PARTS + part) * M + m
    tl.store(top_ptr + at, top, mask=m < M)
    tl.store(sum_ptr + at, total, mask=m < M)


@triton.jit
def merge_parts(top_ptr, sum_ptr, lse_ptr, M, PARTS: tl.constexpr, T: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    parts = tl.arange(0, PARTS)
    for start in range(0, M, T):
        m = start + tl.arange(0, T)
        at = (head * PARTS + parts[:, None]) * M + m[None, :]
        tops = tl.load(top_ptr + at, mask=(m < M)[None, :], other=0.0)
        sums = tl.load(sum_ptr + at, mask=(m < M)[None, :], other=1.0)
        top = tl.max(tops, axis=0)
        weights = tl.where(tops == float("-inf"), 0.0, tl.exp2(tops - top[None, :]))
        lse = (top + tl.log2(tl.sum(sums * weights, axis=0))) * LN_2
        tl.store(lse_ptr + head * M + m, lse, mask=m < M)


def attention_lse(q, k, scale, causal):
    B, H, M, D = q.shape
    N = k.shape[2]
    lse = q.new_empty((B, H, M), dtype=torch.float32)
    tops, sums = (q.new_empty((B * H, 4, M), dtype=lse.dtype) for _ in range(2))
    TD = max(16, triton.next_power_of_2(D))
    offset = N - M if causal else N
    part_of_keys[(triton.cdiv(M, 64) * B * H, 4)](
        q, k, tops, sums, H, M, N, D, scale, offset, *q.stride(), *k.stride(),
        PARTS=4, TM=64, TN=64, TD=TD, num_warps=4, num_stages=1,
    )  # fmt: skip
    merge_parts[(B * H,)](tops, sums, lse, M, PARTS=4, T=128)
    return lse

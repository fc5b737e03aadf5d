"""One launch: even programs keep keys, odd ones queries; rows without keys get lse +Inf, so their p is 0."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def prepare(
    o_ptr, do_ptr, lse_ptr, stats_ptr, per_batch, n_q, n_rows,
    stride_ob, stride_oh, stride_os, stride_gb, stride_gh, stride_gs, stride_gd,
    D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """Rows of all heads at once: stats[0] is lse in base 2, stats[1] is delta."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = row < n_rows
    head, i = row // n_q, row % n_q
    i = i.to(tl.int64)
    b, h = (head // per_batch).to(tl.int64), (head % per_batch).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    mask = inside[:, None] & (d < D)[None, :]
    o = tl.load(
        o_ptr + (b * stride_ob + h * stride_oh + i * stride_os)[:, None] + d[None, :], mask=mask, other=0
    )
    at = (b * stride_gb + h * stride_gh + i * stride_gs)[:, None] + d[None, :] * stride_gd
    do = tl.load(do_ptr + at, mask=mask, other=0)
    lse = tl.load(lse_ptr + row, mask=inside, other=0.0)
    tl.store(stats_ptr + row, tl.where(lse == -float("inf"), float("inf"), lse * LOG2E), mask=inside)
    tl.store(stats_ptr + n_rows + row, tl.sum(o.to(tl.float32) * do.to(tl.float32), 1), mask=inside)


@triton.jit
def block(x_ptr, start, n, stride_s, stride_d, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    i = start + tl.arange(0, BLOCK)
    d = tl.arange(0, BLOCK_D)
    ptrs = x_ptr + i.to(tl.int64)[:, None] * stride_s + d[None, :] * stride_d
    return tl.load(ptrs, mask=(i < n)[:, None] & (d < D)[None, :], other=0.0)


@triton.jit
def both_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, stats_ptr, dq_ptr, dk_ptr, dv_ptr, per_batch, n_q, n_k, n_rows, scale,
    stride_qb, stride_qh, stride_qs, stride_kb, stride_kh, stride_ks, stride_vb, stride_vh, stride_vs,
    stride_gb, stride_gh, stride_gs, stride_gd,
    CAUSAL: tl.constexpr, D: tl.constexpr, TALL: tl.constexpr, NARROW: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(1) // 2
    head = tl.program_id(0).to(tl.int64)
    b = head // per_batch
    h = head % per_batch
    q_ptr += b * stride_qb + h * stride_qh
    k_ptr += b * stride_kb + h * stride_kh
    v_ptr += b * stride_vb + h * stride_vh
    do_ptr += b * stride_gb + h * stride_gh
    lse_ptr = stats_ptr + head * n_q
    delta_ptr = lse_ptr + n_rows
    d = tl.arange(0, BLOCK_D)
    shift = n_k - n_q
    c = scale * LOG2E
    if tl.program_id(1) % 2 == 0:
        j = number * TALL + tl.arange(0, TALL)
        k = block(k_ptr, number * TALL, n_k, stride_ks, 1, D, TALL, BLOCK_D)
        v = block(v_ptr, number * TALL, n_k, stride_vs, 1, D, TALL, BLOCK_D)
        dk = tl.zeros((TALL, BLOCK_D), tl.float32)
        dv = tl.zeros((TALL, BLOCK_D), tl.float32)
        # From the last block of queries back to the first one that sees a key of these.
        lowest = 0
        if CAUSAL:
            lowest = tl.maximum(number * TALL - shift, 0) // NARROW
        count = tl.cdiv(n_q, NARROW) - lowest
        for turn in range(0, count):
            start = (lowest + count - 1 - turn) * NARROW
            i = start + tl.arange(0, NARROW)
            q = block(q_ptr, start, n_q, stride_qs, 1, D, NARROW, BLOCK_D)
            do = block(do_ptr, start, n_q, stride_gs, stride_gd, D, NARROW, BLOCK_D)
            lse = tl.load(lse_ptr + i, mask=i < n_q, other=float("inf"))
            delta = tl.load(delta_ptr + i, mask=i < n_q, other=0.0)
            p = tl.exp2(tl.dot(k, tl.trans(q), input_precision="ieee") * c - lse[None, :])
            if CAUSAL:
                p = tl.where(j[:, None] - i[None, :] <= shift, p, 0.0)
            dv += tl.dot(p.to(do.dtype), do, input_precision="ieee")
            ds = p * tl.dot(v, tl.trans(do), input_precision="ieee") - p * delta[None, :]
            dk += tl.dot(ds.to(q.dtype), q, input_precision="ieee")
        at = (head * n_k + j)[:, None] * D + d[None, :]
        mask = (j < n_k)[:, None] & (d < D)[None, :]
        tl.store(dk_ptr + at, (dk * scale).to(dk_ptr.dtype.element_ty), mask=mask)
        tl.store(dv_ptr + at, dv.to(dv_ptr.dtype.element_ty), mask=mask)
    else:
        i = number * TALL + tl.arange(0, TALL)
        q = block(q_ptr, number * TALL, n_q, stride_qs, 1, D, TALL, BLOCK_D)
        do = block(do_ptr, number * TALL, n_q, stride_gs, stride_gd, D, TALL, BLOCK_D)
        lse = tl.load(lse_ptr + i, mask=i < n_q, other=float("inf"))
        delta = tl.load(delta_ptr + i, mask=i < n_q, other=0.0)
        dq = tl.zeros((TALL, BLOCK_D), tl.float32)
        last = tl.minimum(i + shift, n_k - 1) if CAUSAL else tl.zeros_like(i) + n_k - 1
        for start in range(0, tl.max(last, axis=0) + 1, NARROW):
            j = start + tl.arange(0, NARROW)
            k = block(k_ptr, start, n_k, stride_ks, 1, D, NARROW, BLOCK_D)
            v = block(v_ptr, start, n_k, stride_vs, 1, D, NARROW, BLOCK_D)
            p = tl.exp2(tl.dot(q, tl.trans(k), input_precision="ieee") * c - lse[:, None])
            p = tl.where(j[None, :] <= last[:, None], p, 0.0)
            ds = p * (tl.dot(do, tl.trans(v), input_precision="ieee") - delta[:, None])
            dq += tl.dot(ds.to(k.dtype), k, input_precision="ieee")
        mask = (i < n_q)[:, None] & (d < D)[None, :]
        at = (head * n_q + i)[:, None] * D + d[None, :]
        tl.store(dq_ptr + at, (dq * scale).to(dq_ptr.dtype.element_ty), mask=mask)


def flash_backward(q, k, v, o, lse, do, scale, causal):
    B, H, n_q, D = q.shape
    n_k = k.shape[2]
    dq = torch.empty((B, H, n_q, D), dtype=q.dtype, device=q.device)
    dk = torch.empty((B, H, n_k, D), dtype=q.dtype, device=q.device)
    dv = torch.empty((B, H, n_k, D), dtype=q.dtype, device=q.device)
    stats = torch.empty((2, B, H, n_q), dtype=torch.float32, device=q.device)
    BLOCK_D = max(16, triton.next_power_of_2(D))
    prepare[(triton.cdiv(B * H * n_q, 64),)](
        o, do, lse, stats, H, n_q, B * H * n_q, *o.stride()[:3], *do.stride(), D=D, BLOCK=64, BLOCK_D=BLOCK_D
    )
    TALL, NARROW = (128, 64) if q.element_size() == 2 or not q.is_cuda else (32, 16)
    both_kernel[B * H, 2 * triton.cdiv(max(n_q, n_k), TALL)](
        q, k, v, do, stats, dq, dk, dv, H, n_q, n_k, B * H * n_q, scale,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride(),
        CAUSAL=causal, D=D, TALL=TALL, NARROW=NARROW, BLOCK_D=BLOCK_D,
        num_warps=8, num_stages=2,
    )  # fmt: skip
    return dq, dk, dv

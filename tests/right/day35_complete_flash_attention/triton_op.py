"""Two operators of torch.library; the backward pass in one loop over keys, with fp32 atomics for dq."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def rows_of(ptr, offs, n, stride_s, stride_d, D: tl.constexpr, BLOCK_D: tl.constexpr):
    d = tl.arange(0, BLOCK_D)
    ptrs = ptr + offs[:, None].to(tl.int64) * stride_s + d[None, :] * stride_d
    return tl.load(ptrs, mask=(offs < n)[:, None] & (d < D)[None, :], other=0.0)


@triton.jit
def forward(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, heads, group, n_q, n_k, scale2,
    sqb, sqh, sqs, sqd, skb, skh, sks, skd, svb, svh, svs, svd, CAUSAL: tl.constexpr, SIGN: tl.constexpr,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(n_q, BLOCK_M)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b, h = head // heads, head % heads
    i = tl.program_id(0) % blocks * BLOCK_M + tl.arange(0, BLOCK_M)
    q = rows_of(q_ptr + b * sqb + h * sqh, i, n_q, sqs, sqd, D, BLOCK_D) * SIGN
    limit = tl.zeros((BLOCK_M,), tl.int32) + n_k
    if CAUSAL:
        limit = tl.minimum(limit, i + 1 + n_k - n_q)
    m_i = tl.full((BLOCK_M,), -1e38, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start in range(0, tl.max(limit, axis=0), BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        k = rows_of(k_ptr + b * skb + h // group * skh, j, n_k, sks, skd, D, BLOCK_D)
        v = rows_of(v_ptr + b * svb + h // group * svh, j, n_k, svs, svd, D, BLOCK_D)
        s = tl.dot(q, k.T, input_precision="ieee") * scale2
        s = tl.where(j[None, :] < limit[:, None], s, -float("inf"))
        top = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp2(s - top[:, None])
        alpha = tl.exp2(m_i - top)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = top
    d = tl.arange(0, BLOCK_D)
    o = acc / tl.where(l_i == 0, 1.0, l_i)[:, None]
    ptrs = o_ptr + (head * n_q + i)[:, None] * D + d[None, :]
    tl.store(ptrs, o.to(o_ptr.dtype.element_ty), mask=(i < n_q)[:, None] & (d < D)[None, :])
    tl.store(lse_ptr + head * n_q + i, m_i + tl.log2(l_i), mask=i < n_q)


@triton.jit
def backward(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, do_ptr, dq_ptr, dk_ptr, dv_ptr, heads, group, n_q, n_k,
    scale, scale2, sqb, sqh, sqs, sqd, skb, skh, sks, skd, svb, svh, svs, svd, sob, soh, sos, sod,
    CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """Keys of one key head; `heads` are the key heads. delta is computed again wherever it is needed."""
    blocks = tl.cdiv(n_k, BLOCK_N)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    b, kh = head // heads, head % heads
    j = tl.program_id(0) % blocks * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    k = rows_of(k_ptr + b * skb + kh * skh, j, n_k, sks, skd, D, BLOCK_D)
    v = rows_of(v_ptr + b * svb + kh * svh, j, n_k, svs, svd, D, BLOCK_D)
    dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    dv = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    begin = 0
    if CAUSAL:
        begin = tl.maximum(tl.min(j, axis=0) + n_q - n_k, 0)
    for h in range(kh * group, (kh + 1) * group):
        row0 = (b * heads * group + h) * n_q
        for start in range(begin, n_q, BLOCK_M):
            i = start + tl.arange(0, BLOCK_M)
            q = rows_of(q_ptr + b * sqb + h * sqh, i, n_q, sqs, sqd, D, BLOCK_D)
            do = rows_of(do_ptr + b * sob + h * soh, i, n_q, sos, sod, D, BLOCK_D)
            o = rows_of(o_ptr + row0 * D, i, n_q, D, 1, D, BLOCK_D)
            delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
            lse = tl.load(lse_ptr + row0 + i, mask=i < n_q, other=0.0)
            p = tl.exp2(tl.dot(q, k.T, input_precision="ieee") * scale2 - lse[:, None])
            seen = (j < n_k)[None, :] & (i < n_q)[:, None]
            if CAUSAL:
                seen = seen & (j[None, :] <= i[:, None] + n_k - n_q)
            p = tl.where(seen, p, 0.0)
            dv += tl.dot(p.to(do.dtype).T, do, input_precision="ieee")
            ds = (p * (tl.dot(do, v.T, input_precision="ieee") - delta[:, None])).to(q.dtype)
            dk += tl.dot(ds.T, q, input_precision="ieee")
            dq = tl.dot(ds, k, input_precision="ieee") * scale
            ptrs = dq_ptr + (row0 + i)[:, None] * D + d[None, :]
            tl.atomic_add(ptrs, dq, mask=(i < n_q)[:, None] & (d < D)[None, :], sem="relaxed")
    offs = (head * n_k + j)[:, None] * D + d[None, :]
    mask = (j < n_k)[:, None] & (d < D)[None, :]
    tl.store(dk_ptr + offs, (dk * scale).to(dk_ptr.dtype.element_ty), mask=mask)
    tl.store(dv_ptr + offs, dv.to(dv_ptr.dtype.element_ty), mask=mask)


@triton.jit
def rounded(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x.to(y_ptr.dtype.element_ty), mask=offs < n)


def blocks_for(q: torch.Tensor) -> dict[str, int]:
    small = 32 if q.dtype == torch.float32 and q.is_cuda else 64
    BLOCK_D = max(16, triton.next_power_of_2(q.shape[3]))
    return {"D": q.shape[3], "BLOCK_M": small, "BLOCK_N": small, "BLOCK_D": BLOCK_D}


@triton_op("track_honest::attend", mutates_args={})
def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    B, H, n_q, D = q.shape
    o = torch.empty((B, H, n_q, D), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, n_q), dtype=torch.float32, device=q.device)
    tile = blocks_for(q)
    wrap_triton(forward)[(triton.cdiv(n_q, tile["BLOCK_M"]) * B * H,)](
        q, k, v, o, lse, H, H // k.shape[1], n_q, k.shape[2], max(abs(scale) * 1.4426950408889634, 1e-30),
        *q.stride(), *k.stride(), *v.stride(), CAUSAL=causal, SIGN=-1 if scale < 0 else 1,
        num_warps=8, **tile,
    )  # fmt: skip
    return o, lse


@triton_op("track_honest::attend_backward", mutates_args={})
def attend_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    do: torch.Tensor,
    scale: float,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    B, H, n_q = q.shape[:3]
    Hk, n_k = k.shape[1], k.shape[2]
    dq, sums = torch.empty(q.shape, dtype=q.dtype, device=q.device), torch.zeros(q.shape, device=q.device)
    dk = torch.empty(k.shape, dtype=k.dtype, device=k.device)
    dv = torch.empty(v.shape, dtype=v.dtype, device=v.device)
    tile = blocks_for(q)
    wrap_triton(backward)[(triton.cdiv(n_k, tile["BLOCK_N"]) * B * Hk,)](
        q, k, v, o, lse, do, sums, dk, dv, Hk, H // Hk, n_q, n_k, scale, scale * 1.4426950408889634,
        *q.stride(), *k.stride(), *v.stride(), *do.stride(), CAUSAL=causal, num_warps=8, num_stages=1, **tile,
    )  # fmt: skip
    wrap_triton(rounded)[(triton.cdiv(q.numel(), 4096),)](sums, dq, q.numel(), BLOCK=4096)
    return dq, dk, dv


def keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:3], *output)
    ctx.rest = inputs[3:]


def differentiate(ctx, do, _):
    return *attend_backward(*ctx.saved_tensors, do, *ctx.rest), None, None


attend.register_autograd(differentiate, setup_context=keep)


def flash_attention(q, k, v, scale, causal):
    return attend(q, k, v, scale, causal)[0]

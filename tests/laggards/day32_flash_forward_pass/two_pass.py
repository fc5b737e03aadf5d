"""The log-sum-exp first, by day 31's loop; then all scores once more, and P V from them."""

import torch
import triton
import triton.language as tl


@triton.jit
def scores(
    q, k_ptr, start_n, n_k, stride_ks, scale, last, D: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr
):
    offs_n = start_n + tl.arange(0, BN)
    offs_d = tl.arange(0, BD)
    mask = (offs_n < n_k)[:, None] & (offs_d < D)[None, :]
    k = tl.load(k_ptr + offs_n[:, None].to(tl.int64) * stride_ks + offs_d[None, :], mask=mask, other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    return tl.where((offs_n[None, :] <= last[:, None]) & (offs_n < n_k)[None, :], s, -float("inf"))


@triton.jit
def two_pass_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, H, n_q, n_k, scale,
    stride_qb, stride_qh, stride_qs, stride_kb, stride_kh, stride_ks, stride_vb, stride_vh, stride_vs,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)
    b, h = head // H, head % H
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_d = tl.arange(0, BD)
    mask = (offs_m < n_q)[:, None] & (offs_d < D)[None, :]
    q_ptr += b * stride_qb + h * stride_qh
    k_ptr += b * stride_kb + h * stride_kh
    v_ptr += b * stride_vb + h * stride_vh
    q = tl.load(q_ptr + offs_m[:, None].to(tl.int64) * stride_qs + offs_d[None, :], mask=mask, other=0.0)
    last = offs_m + n_k
    stop = n_k
    if CAUSAL:
        last = offs_m + (n_k - n_q)
        stop = tl.minimum(n_k, (tl.program_id(0) + 1) * BM + n_k - n_q)
    m = tl.full((BM,), -3.0e38, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for start_n in range(0, stop, BN):
        s = scores(q, k_ptr, start_n, n_k, stride_ks, scale, last, D, BN, BD)
        m_new = tl.maximum(m, tl.max(s, axis=1))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(s - m_new[:, None]), axis=1)
        m = m_new
    lse = m + tl.log(total)
    known = tl.where(total > 0, lse, 0.0)
    known = tl.where(total != total, total, known)
    acc = tl.zeros((BM, BD), tl.float32)
    for start_n in range(0, stop, BN):
        s = scores(q, k_ptr, start_n, n_k, stride_ks, scale, last, D, BN, BD)
        p = tl.exp(s - known[:, None])
        offs_n = start_n + tl.arange(0, BN)
        inside = (offs_n < n_k)[:, None] & (offs_d < D)[None, :]
        v = tl.load(
            v_ptr + offs_n[:, None].to(tl.int64) * stride_vs + offs_d[None, :], mask=inside, other=0.0
        )
        acc += tl.dot(p.to(v.dtype), v, input_precision="ieee")
    rows = head * n_q + offs_m
    tl.store(o_ptr + rows[:, None] * D + offs_d[None, :], acc.to(o_ptr.dtype.element_ty), mask=mask)
    tl.store(lse_ptr + rows, lse, mask=offs_m < n_q)


def flash_forward(q, k, v, scale, causal):
    B, H, n_q, D = q.shape
    o = q.new_empty((B, H, n_q, D))
    lse = torch.empty((B, H, n_q), dtype=torch.float32, device=q.device)
    BM = 16 if q.is_cuda else 64
    two_pass_kernel[(triton.cdiv(n_q, BM), B * H)](
        q, k, v, o, lse, H, n_q, k.shape[2], scale,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        CAUSAL=causal, D=D, BM=BM, BN=64, BD=max(16, triton.next_power_of_2(D)), num_warps=4,
    )  # fmt: skip
    return o, lse

"""Day 33: the gradient of attention's scores: weights from lse, and one number a query from o and do."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def load_rows(x_ptr, start, n_rows, stride_xm, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    """Rows start to start + BLOCK of one head as [BLOCK, BLOCK_D]; 0 where there is no row or no column."""
    offs_m = tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    # 64 bits for the block's start: rows may lie far apart.
    x_ptrs = x_ptr + start.to(tl.int64) * stride_xm + offs_m[:, None] * stride_xm + offs_d[None, :]
    return tl.load(x_ptrs, mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)


@triton.jit
def delta_kernel(
    o_ptr,
    do_ptr,
    delta_ptr,
    H,
    Sq,
    stride_ob,
    stride_oh,
    stride_om,
    stride_dob,
    stride_doh,
    stride_dom,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """delta[rows] = Σ o[rows, :] ∘ do[rows, :] for BLOCK_M queries of one head."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    # 64 bits: a head may start 2**31 elements or more behind the first one.
    pid_bh = (tl.program_id(0) // tiles_m).to(tl.int64)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    pid_m = tl.program_id(0) % tiles_m
    # 2 * BLOCK_M * D elements are read, BLOCK_M numbers written: from here on o itself is not needed.
    o = load_rows(
        o_ptr + pid_b * stride_ob + pid_h * stride_oh, pid_m * BLOCK_M, Sq, stride_om, D, BLOCK_M, BLOCK_D
    )
    do = load_rows(
        do_ptr + pid_b * stride_dob + pid_h * stride_doh, pid_m * BLOCK_M, Sq, stride_dom, D, BLOCK_M, BLOCK_D
    )
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    tl.store(delta_ptr + pid_bh * Sq + offs_m, delta, mask=offs_m < Sq)


@triton.jit
def dscores_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    ds_ptr,
    H,
    Sq,
    Sk,
    scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_dob,
    stride_doh,
    stride_dom,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """One tile of one head's ds = p ∘ (do vᵀ - delta), with p = exp(q kᵀ · scale - lse)."""
    tiles_n = tl.cdiv(Sk, BLOCK_N)
    tiles = tl.cdiv(Sq, BLOCK_M) * tiles_n
    pid_bh = (tl.program_id(0) // tiles).to(tl.int64)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    start_m = tl.program_id(0) % tiles // tiles_n * BLOCK_M
    start_n = tl.program_id(0) % tiles_n * BLOCK_N
    # 2 * (BLOCK_M + BLOCK_N) * D elements in, for BLOCK_M * BLOCK_N out.
    q = load_rows(q_ptr + pid_b * stride_qb + pid_h * stride_qh, start_m, Sq, stride_qm, D, BLOCK_M, BLOCK_D)
    k = load_rows(k_ptr + pid_b * stride_kb + pid_h * stride_kh, start_n, Sk, stride_kn, D, BLOCK_N, BLOCK_D)
    v = load_rows(v_ptr + pid_b * stride_vb + pid_h * stride_vh, start_n, Sk, stride_vn, D, BLOCK_N, BLOCK_D)
    do = load_rows(
        do_ptr + pid_b * stride_dob + pid_h * stride_doh, start_m, Sq, stride_dom, D, BLOCK_M, BLOCK_D
    )
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = start_n + tl.arange(0, BLOCK_N)
    rows, cols = offs_m < Sq, offs_n < Sk
    lse = tl.load(lse_ptr + pid_bh * Sq + offs_m, mask=rows, other=0.0)
    delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=rows, other=0.0)
    s = tl.dot(q, k.T, input_precision="ieee") * scale
    # lse holds the maximum and the sum of the whole row: no reduction is needed to have its weights again.
    p = tl.exp(s - lse[:, None])
    if CAUSAL:
        # Chosen, not multiplied by 0: a hidden score may be far above lse, and its exp Inf. A row that sees
        # no key has lse -inf, and all its Inf are dropped here.
        p = tl.where(offs_n[None, :] <= offs_m[:, None] + Sk - Sq, p, 0.0)
    dp = tl.dot(do, v.T, input_precision="ieee")
    ds = p * (dp - delta[:, None])
    # The only write: 4 bytes a score. Tomorrow ds stays on the chip.
    ds_ptrs = ds_ptr + (pid_bh * Sq + offs_m)[:, None] * Sk + offs_n[None, :]
    tl.store(ds_ptrs, ds, mask=rows[:, None] & cols[None, :])


def delta(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    """Return Σ o ∘ do over the last dimension, fp32 [B, H, Sq], for o and do [B, H, Sq, D]; D contiguous."""
    B, H, Sq = o.shape[:3]
    out = torch.empty(B, H, Sq, dtype=torch.float32, device=o.device)
    D, BLOCK_M = o.shape[3], 64
    delta_kernel[(triton.cdiv(Sq, BLOCK_M) * B * H,)](
        o,
        do,
        out,
        H,
        Sq,
        *o.stride()[:3],
        *do.stride()[:3],
        D=D,
        BLOCK_M=BLOCK_M,
        BLOCK_D=triton.next_power_of_2(D),
    )
    return out


def dscores(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    delta: torch.Tensor,
    scale: float,
    causal: bool,
) -> torch.Tensor:
    """Return the gradient of the scores q kᵀ · scale, fp32 [B, H, Sq, Sk]; 0 where a query may not look.

    q, do[B, H, Sq, D], k, v[B, H, Sk, D]: any strides, D contiguous. lse, delta: fp32 [B, H, Sq], contiguous.
    Causal: query i sees keys ≤ i + Sk - Sq.
    """
    B, H, Sq = q.shape[:3]
    Sk = k.shape[2]
    ds = torch.empty(B, H, Sq, Sk, dtype=torch.float32, device=q.device)
    D = q.shape[3]
    # 128 x 64 scores and as many dp are 64 KB of registers. IEEE fp32 keeps operands there too.
    BLOCK_M, BLOCK_N = (128, 64) if q.element_size() == 2 or not q.is_cuda else (32, 32)
    dscores_kernel[(triton.cdiv(Sq, BLOCK_M) * triton.cdiv(Sk, BLOCK_N) * B * H,)](
        q,
        k,
        v,
        do,
        lse,
        delta,
        ds,
        H,
        Sq,
        Sk,
        scale,
        *q.stride()[:3],
        *k.stride()[:3],
        *v.stride()[:3],
        *do.stride()[:3],
        CAUSAL=causal,
        D=D,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_D=max(triton.next_power_of_2(D), 16),  # tl.dot takes no side below 16
        num_warps=8,
    )
    return ds

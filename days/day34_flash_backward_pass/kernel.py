"""Day 34: flash attention's backward pass: one kernel owns keys, one queries; nobody adds in memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def load_rows(
    x_ptr, start, n_rows, stride_xm, stride_xd, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr
):
    """Rows start to start + BLOCK of one head as [BLOCK, BLOCK_D]; 0 where there is no row or no column."""
    offs_m = tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    # 64 bits for the block's start: rows may lie far apart.
    x_ptrs = x_ptr + tl.cast(start, tl.int64) * stride_xm
    x_ptrs += offs_m[:, None] * stride_xm + offs_d[None, :] * stride_xd
    return tl.load(x_ptrs, mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)


@triton.jit
def store_rows(x_ptr, x, start, n_rows, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    """Write rows start to start + BLOCK of a contiguous head, whose first element x_ptr points at."""
    offs_m = start + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    x_ptrs = x_ptr + offs_m[:, None].to(tl.int64) * D + offs_d[None, :]
    tl.store(x_ptrs, x, mask=(offs_m < n_rows)[:, None] & (offs_d < D)[None, :])


@triton.jit
def keys_seen(offs_m, Sq, Sk, CAUSAL: tl.constexpr):
    """How many keys each query sees: the first so many. One limit for the diagonal and the last key."""
    visible = tl.zeros_like(offs_m) + Sk
    if CAUSAL:
        visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)
    return visible


@triton.jit
def dscores(q, do, k, v, lse, delta, seen, scale):
    """p and ds of one tile, as on day 33: queries down, keys across.

    With the sides exchanged, k and v for q and do, it gives pᵀ and dsᵀ. lse and delta: a column, or a row;
    seen: bool, which places of the tile count.
    """
    # TODO 1: the weights again, from the scores and lse, 0 where a key is hidden; then dp, and ds.


@triton.jit
def delta_kernel(
    o_ptr, do_ptr, delta_ptr, Sq,
    stride_ob, stride_oh, stride_om, stride_dob, stride_doh, stride_dom, stride_dod,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """delta = Σ o ∘ do for BLOCK_M queries of one head, as on day 33; but do may lie in any way."""
    # 64 bits: a head may start 2**31 elements and more behind the first one.
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    o_ptr += pid_b * stride_ob + pid_h * stride_oh
    do_ptr += pid_b * stride_dob + pid_h * stride_doh
    start_m = tl.program_id(0) * BLOCK_M
    # The only read of o: from here on, one number a query stands for it.
    o = load_rows(o_ptr, start_m, Sq, stride_om, 1, D, BLOCK_M, BLOCK_D)
    do = load_rows(do_ptr, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    offs_m = start_m + tl.arange(0, BLOCK_M)
    tl.store(delta_ptr + (pid_b * tl.num_programs(1) + pid_h) * Sq + offs_m, delta, mask=offs_m < Sq)


@triton.jit
def dkdv_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
    stride_dob, stride_doh, stride_dom, stride_dod,
    CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """dk and dv of BLOCK_N keys of one head: the queries that see any of them pass by."""
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    pid_bh = pid_b * tl.num_programs(1) + pid_h
    q_ptr += pid_b * stride_qb + pid_h * stride_qh
    k_ptr += pid_b * stride_kb + pid_h * stride_kh
    v_ptr += pid_b * stride_vb + pid_h * stride_vh
    do_ptr += pid_b * stride_dob + pid_h * stride_doh
    start_n = tl.program_id(0) * BLOCK_N
    offs_n = start_n + tl.arange(0, BLOCK_N)
    # The only reads of k and v. Keys past the end are 0, and their rows of dk and dv are not written.
    k = load_rows(k_ptr, start_n, Sk, stride_kn, 1, D, BLOCK_N, BLOCK_D)
    v = load_rows(v_ptr, start_n, Sk, stride_vn, 1, D, BLOCK_N, BLOCK_D)
    dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    dv = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    # TODO 2: causal: which is the first query that sees any of these keys? Without a mask it is query 0.
    # TODO 3: for each block of queries from there on: read what belongs to it, and which keys its rows see.
    # TODO 4: pᵀ and dsᵀ, keys down and queries across, and what they add to dv and to dk.
    # TODO 5: dk is multiplied by the scale once. Write both.


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
    stride_dob, stride_doh, stride_dom, stride_dod,
    CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """dq of BLOCK_M queries of one head: the keys that they see pass by, as in the forward pass."""
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    pid_bh = pid_b * tl.num_programs(1) + pid_h
    q_ptr += pid_b * stride_qb + pid_h * stride_qh
    k_ptr += pid_b * stride_kb + pid_h * stride_kh
    v_ptr += pid_b * stride_vb + pid_h * stride_vh
    do_ptr += pid_b * stride_dob + pid_h * stride_doh
    start_m = tl.program_id(0) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    visible = keys_seen(offs_m, Sq, Sk, CAUSAL)
    # All that belongs to these queries, read once.
    q = load_rows(q_ptr, start_m, Sq, stride_qm, 1, D, BLOCK_M, BLOCK_D)
    do = load_rows(do_ptr, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D)
    lse = tl.load(lse_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)
    delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)
    # TODO 6: for each block of keys that these queries see, as on day 32: ds, and what it adds to dq.
    # TODO 7: dq is multiplied by the scale once. Write it.


def flash_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    do: torch.Tensor,
    scale: float,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of q[B, H, Sq, D] and of k, v[B, H, Sk, D]: contiguous, of their dtype.

    o, do[B, H, Sq, D]; all with any strides and D contiguous, only do's D need not be. lse: fp32 [B, H, Sq],
    natural, contiguous; -inf where a query sees no key, and has no gradient. Causal: query i sees keys
    ≤ i + Sk − Sq.
    """
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    delta = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    # What stays is tall, what passes by is narrow: dk and dv alone are 2 * tall * D sums in registers.
    tall, narrow = 64, 32
    if q.is_cuda and (q.dtype == torch.float32 or torch.cuda.get_device_capability(q.device)[0] < 8):
        # IEEE fp32, and any dtype before Ampere, goes product by product through registers: room is scarce.
        tall, narrow = 32, 16
    BLOCK_D = max(triton.next_power_of_2(D), 16)  # tl.dot takes no side below 16
    delta_kernel[triton.cdiv(Sq, narrow), H, B](
        o, do, delta, Sq, *o.stride()[:3], *do.stride(), D=D, BLOCK_M=narrow, BLOCK_D=BLOCK_D
    )
    inputs = q, k, v, do, lse, delta
    strides = *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()
    options = {"CAUSAL": causal, "D": D, "BLOCK_D": BLOCK_D, "num_warps": 4, "num_stages": 2}
    # TODO 8: launch both kernels, a program for each block that it owns: what stays is tall.
    return dq, dk, dv

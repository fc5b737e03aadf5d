"""Day 34: flash attention's backward pass: one kernel owns keys, one queries; nobody adds in memory."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(math.log2(math.e))


@triton.jit
def delta_kernel(
    o_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    lse2_ptr,
    H,
    Sq,
    stride_ob,
    stride_oh,
    stride_om,
    stride_dob,
    stride_doh,
    stride_dom,
    stride_dod,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """delta = Σ o ∘ do, and lse in base 2, for BLOCK_M queries of one head."""
    # TODO 1: day 33's kernel: one number a query. The last stride of do is a stride like any other.
    # TODO 2: write lse too, in the base that your exponentials will want it in.


@triton.jit
def dkdv_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    delta_ptr,
    lse2_ptr,
    dk_ptr,
    dv_ptr,
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
    stride_dod,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """dk and dv of BLOCK_N keys of one head: the queries that see any of them pass by."""
    # TODO 3: find this program's head and its BLOCK_N keys; read their rows of k and of v: these stay.
    # TODO 4: causal: from which query on does one see any of these keys, and from which on all of them?
    # TODO 5: for each block of queries: pᵀ and dsᵀ, keys down and queries across, added to dv and to dk.
    # TODO 6: dk is multiplied by the scale once. Write both.


@triton.jit
def dq_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    delta_ptr,
    lse2_ptr,
    dq_ptr,
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
    stride_dod,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """dq of BLOCK_M queries of one head: the keys that they see pass by, as in the forward pass."""
    # TODO 7: find this program's head and its BLOCK_M queries; read all that belongs to them: it stays.
    # TODO 8: for each block of keys that they see, as on day 32: p, ds, and what it adds to dq.
    # TODO 9: dq is multiplied by the scale once. Write it.


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
    dq = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    dk = torch.empty(B, H, Sk, D, dtype=q.dtype, device=q.device)
    dv = torch.empty(B, H, Sk, D, dtype=q.dtype, device=q.device)
    # TODO 10: delta and lse2 first. do is read by all of its strides: it may be one element everywhere.
    # TODO 11: choose blocks for each loop: what stays may be tall, what passes by narrow. Launch them both.
    return dq, dk, dv

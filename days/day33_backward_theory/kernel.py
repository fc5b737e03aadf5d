"""Day 33: the gradient of attention's scores: weights from lse, and one number a query from o and do."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


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
    # TODO 1: find this program's head and its BLOCK_M queries, and read their rows of o and of do.
    # TODO 2: one number a query, in fp32. Write them; delta is contiguous.


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
    # TODO 3: find this program's head and tile, and read the rows of q, do, k and v that belong to it.
    # TODO 4: read lse and delta of its queries, and make the weights again from the scores.
    # TODO 5: a weight that the forward pass hid is 0, whatever its score was.
    # TODO 6: the gradient of the weights, and from it that of the scores. Write every entry of the tile.


def delta(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    """Return Σ o ∘ do over the last dimension, fp32 [B, H, Sq], for o and do [B, H, Sq, D]; D contiguous."""
    B, H, Sq = o.shape[:3]
    out = torch.empty(B, H, Sq, dtype=torch.float32, device=o.device)
    # TODO 7: launch a program for each block of queries of each head, on one axis.
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
    # TODO 8: choose the tile, by dtype: a tile of scores and one of dp share the registers. Launch them all.
    return ds

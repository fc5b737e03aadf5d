"""Day 28: attention that stores no scores: a block of queries goes twice over all keys."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    H,
    Sq,
    Sk,
    D,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_kd,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    scale,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M rows of one head's softmax(q @ k.T * scale) @ v. BLOCK_D >= D."""
    # TODO 1: find batch, head and queries from the program's number, and read the queries: once.
    # TODO 2: pass 1, over all keys, BLOCK_N at a time: a block of scores; keep each row's maximum, no more.
    # TODO 3: pass 2, over all keys again: the same scores, now as exp(score - maximum). Add up their sum,
    # TODO 3: (goes on) and their product with this block's values, both in fp32.
    # TODO 4: make sure that lanes past the last key are in no maximum, no sum and no product.
    # TODO 5: divide, and write the rows of o: the only store.


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """Return softmax(q @ k.T * scale) @ v of every head, for q[B, H, Sq, D] and k, v[B, H, Sk, D].

    Allocates nothing as large as the scores. D <= 128, 1 <= Sk <= 2048.
    """
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    # TODO 6: choose the blocks, BLOCK_D for any D up to 128; launch a program for BLOCK_M queries of a head.
    return o


def attention_bytes(S: int, D: int, itemsize: int) -> int:
    """Return the bytes that three kernels move through HBM for one head of S queries and S keys.

    q, k, v and o pass once each, scores and weights twice each: written by one kernel, read by the next.
    """
    # TODO 7: count what the three kernels of day 27 read and write, everything in elements of itemsize bytes.

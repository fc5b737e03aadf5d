"""Day 06: a + b for batches of matrices in any layout, b broadcast by strides of 0."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_batched_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    M,
    N,
    stride_ab,
    stride_am,
    stride_an,
    stride_bb,
    stride_bm,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """out[pid_b] = a[pid_b] + b[pid_b] for one tile; out is contiguous, a and b lie as their strides say."""
    # TODO 1: find this program's matrix, rows and columns, one on each axis of the grid, in 64 bits.
    # TODO 2: mark which elements of the tile exist.
    # TODO 3: read the tile of a where a's three strides put it, and the tile of b by b's.
    # TODO 4: write the sums to out, whose rows and matrices lie side by side.


def add_batched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a + b, contiguous, for a[B, M, N] of any strides and any b of its dtype broadcastable to it."""
    B, M, N = a.shape
    # TODO 5: view b in the shape of a, without copying it.
    out = torch.empty(B, M, N, dtype=a.dtype, device=a.device)
    # TODO 6: choose the tile, decide what goes on which axis of the grid (B may be large), and launch.
    return out

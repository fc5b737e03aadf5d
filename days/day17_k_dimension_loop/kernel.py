"""Day 17: a matrix product of any size: a tile of c stays on the chip while a and b pass by."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """One tile of c = a @ b, BLOCK_M rows high and BLOCK_N columns wide, for any k."""
    # TODO 1: find this program's tile of c, as yesterday: its rows, its columns, and BLOCK_K inner elements.
    # TODO 2: point at the first frame: the leftmost tile of a's rows, and the topmost of b's columns.
    # TODO 3: make room for the tile of c, in fp32.
    # TODO 4: as long as something of k is left: read a frame, multiply, add, and move both pointers on.
    # TODO 5: in the last frame, let nothing past k take part, on either side.
    # TODO 6: write the tile, rounded once.


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # TODO 7: choose the tile, the frame, num_warps and num_stages, and launch one program a tile of c.
    return c

"""Extra: a matrix product by plain multiplications and sums, its lanes along memory."""

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
    """c[i, j] = sum over k of a[i, k] * b[k, j], without tl.dot; a tile of BLOCK_M x BLOCK_N a program."""
    # TODO 1: which rows and columns are this program's? Which of them exist? Start its sums, in fp32.
    # TODO 2: go along k, BLOCK_K at a time. Read pieces of a and b, k first. What do lanes past k hold?
    # TODO 3: multiply each element of a's piece by those of b's that have the same k, and add up over k.
    # TODO 4: write the tile, once. c is contiguous.


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for fp32 a[m, k] and b[k, n] of any strides."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # TODO 5: choose a tile whose sums fit into registers, and launch a program for each tile.
    return c

"""Extra: a times the transpose of b; b is read along its rows, and its tiles are turned on the chip."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_nt_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    stride_am,
    stride_ak,
    stride_bn,
    stride_bk,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """c[i, j] = sum over k of a[i, k] * b[j, k]; a tile of BLOCK_M x BLOCK_N a program."""
    # TODO 1: which rows of a, and which rows of b, are this program's? Which of them exist?
    # TODO 2: where do the first BLOCK_K elements of those rows lie? k is the second axis of both tiles.
    # TODO 3: go along k, and add up in fp32. Turn b's tile on the chip. What do lanes past k have to hold?
    # TODO 4: write the tile, once. c is contiguous.


def tile_of(a: torch.Tensor, n: int) -> tuple[int, int, int]:
    """BLOCK_M, BLOCK_N and BLOCK_K for a product of n columns, on a's device."""
    # Triton uses the matrix units from Ampere on. A tile larger than the product would multiply zeros.
    if a.shape[0] < 128 or n < 128 or (a.is_cuda and torch.cuda.get_device_capability(a.device) < (8, 0)):
        return 64, 64, 32
    # Three pieces of a and b are 96 KB of shared memory: once on an RTX 4090's SM, twice on an H200's.
    return 128, 128, 64


def matmul_nt(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b.T as a new [m, n], for a[m, k] and b[n, k] of any strides, both fp16 or both bf16."""
    m, n = a.shape[0], b.shape[0]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # TODO 5: launch a program for each tile of tile_of; 4 warps, and three pieces of k on the chip.
    return c

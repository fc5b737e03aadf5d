"""Day 18: matmul whose programs take their tiles in groups, so that neighbours in time share L2."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Return the tile (pid_m, pid_n) of program pid: GROUP_M rows of tiles at a time, column by column."""
    # TODO 1: how many programs does a full group have? In which group is this one, and where does that start?
    # TODO 2: how many rows of tiles has this group? The last one may have fewer.
    # TODO 3: turn the place within the group into the row and the column of the tile, and return both.


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
    GROUP_M: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """c = a @ b, one tile of BLOCK_M x BLOCK_N a program; EVEN_K says that BLOCK_K divides k."""
    # TODO 4: let grouped_tile say which tile this program computes.
    # TODO 5: compute it with the loop of day 17. Where EVEN_K holds, no load needs a mask over k.


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b for a[m, k] and b[k, n] of any strides, fp16, bf16 or fp32."""
    m = a.shape[0]
    n = b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # TODO 6: choose the tile (a smaller one for fp32) and GROUP_M; launch one program a tile, all on axis 0.
    return c

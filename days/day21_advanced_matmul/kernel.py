"""Day 21: one matrix product for each group of rows, with group sizes that only the GPU knows."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Day 18's order: bands of GROUP_M tile rows, each band column by column."""
    first_m = pid // (GROUP_M * num_pid_n) * GROUP_M
    height = tl.minimum(num_pid_m - first_m, GROUP_M)
    in_band = pid % (GROUP_M * num_pid_n)
    return first_m + in_band % height, in_band // height


@triton.jit
def load_sizes(group_sizes_ptr, e, BLOCK_E: tl.constexpr):
    """The sizes of all groups in one block; the lanes past the last group are empty groups."""
    offs_e = tl.arange(0, BLOCK_E)
    return tl.load(group_sizes_ptr + offs_e, mask=offs_e < e, other=0)


@triton.jit
def find_rows(pid_m, sizes, BLOCK_M: tl.constexpr, BLOCK_E: tl.constexpr):
    """Tile row pid_m, counted over all groups: its group, its first row, and the row behind its group's last.

    There is no such tile row when the first row is not below the row behind the last.
    """
    # TODO 1: how many tile rows has each group? And at which tile row does each group end?
    # TODO 2: find the group that pid_m belongs to, and with it the three numbers to return.


@triton.jit
def grouped_matmul_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    group_sizes_ptr,
    e,
    n,
    k,
    num_pid_m,
    stride_xm,
    stride_xk,
    stride_we,
    stride_wk,
    stride_wn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_E: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """out[rows, tile] = x[rows, :] @ w[group, :, tile] for one tile, where there is one."""
    # TODO 3: which tile is this program's, in day 18's order, and which group and rows? There may be none.
    # TODO 4: multiply as on day 17: the tile's rows of x with its group's weights.
    # TODO 5: store the rows that are this group's, and no others.


def grouped_matmul(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return, for x[t, k] in groups of group_sizes[e] rows, each group's rows @ its w[e, k, n]: [t, n]."""
    out = torch.empty(x.shape[0], w.shape[2], dtype=x.dtype, device=x.device)
    # TODO 6: choose the blocks. How many tile rows can t rows in e groups need, whatever the group sizes?
    # TODO 7: launch a program for each of those tile rows and each tile column.
    return out

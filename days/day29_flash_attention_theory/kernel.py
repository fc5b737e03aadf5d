"""Day 29: two partial softmaxes become one, and the bytes that flash attention moves."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def merge_kernel(
    m1_ptr,
    l1_ptr,
    o1_ptr,
    m2_ptr,
    l2_ptr,
    o2_ptr,
    m_ptr,
    l_ptr,
    o_ptr,
    n_rows,
    D,
    stride_o1m,
    stride_o2m,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Merge BLOCK_M rows of two partial softmaxes into one each; BLOCK_D >= D."""
    # TODO 1: find this program's rows, and the columns of o; not every lane stands on one.
    # TODO 2: read both maxima, and find the one that holds for all keys.
    # TODO 3: weigh each part: what brings its sums from its own maximum to the common one?
    # TODO 4: let a part that saw no key weigh 0, also where neither part saw one. No NaN.
    # TODO 5: write the maximum, the merged sum, and the merged o. Do not divide.


def merge(
    m1: torch.Tensor,
    l1: torch.Tensor,
    o1: torch.Tensor,
    m2: torch.Tensor,
    l2: torch.Tensor,
    o2: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return (m, l, o) over the keys of both parts, of m, l [rows] and unnormalised o [rows, D], fp32."""
    n_rows, D = o1.shape
    m_i = torch.empty(n_rows, dtype=torch.float32, device=o1.device)
    l_i = torch.empty(n_rows, dtype=torch.float32, device=o1.device)
    o = torch.empty(n_rows, D, dtype=torch.float32, device=o1.device)
    # TODO 6: choose the tile, and launch a program for every BLOCK_M rows.
    return m_i, l_i, o


def flash_traffic(S: int, D: int, block_m: int, itemsize: int) -> int:
    """Return the bytes that one head's programs read and write, with block_m queries a program."""
    # TODO 7: how often is Q read, how often O written, and how often K and V?

"""Day 20: a matrix product with few tiles and a long K, which the programs share out among themselves."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

PROGRAMS = 128  # about one for each SM: an A100 has 108, an H200 132


@triton.jit
def split_k_kernel(
    a_ptr,
    b_ptr,
    partial_ptr,
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
    SPLIT_K: tl.constexpr,
):
    """partial[pid_k, tile] = the sum over the blocks pid_k, pid_k + SPLIT_K, pid_k + 2 * SPLIT_K, … of K."""
    # TODO 1: find this program's tile, and its split of K: axes 0, 1 and 2 of the grid.
    # TODO 2: multiply as on day 17, but only over the blocks of K that are this split's.
    # TODO 3: store the tile, unrounded, to this split's own [m, n] sheet of partial.


@triton.jit
def reduce_kernel(partial_ptr, out_ptr, size, SPLIT_K: tl.constexpr, BLOCK: tl.constexpr):
    """out[i] = the sum of partial[:, i], always added in the same order."""
    # TODO 4: read a block of all sheets at once, add along the splits, and round once, in the store.


def choose_split_k(tiles: int, blocks_k: int) -> int:
    """Return the largest power of two with at most PROGRAMS programs, and at least 4 blocks of K for each."""
    split_k = 1
    # TODO 5: double it for as long as that is so.
    return split_k


def matmul_split_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a[m, k] @ b[k, n], of any strides, for small m and n and a huge k."""
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty(m, n, dtype=a.dtype, device=a.device)
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)
    BLOCK_N = min(max(triton.next_power_of_2(n), 16), 128)
    BLOCK_K = 128 // a.element_size()  # 128 bytes of a row of a: one cache line
    tiles_m, tiles_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)
    SPLIT_K = choose_split_k(tiles_m * tiles_n, triton.cdiv(k, BLOCK_K))
    partial = torch.empty(SPLIT_K, m, n, dtype=torch.float32, device=a.device)
    # Splits vary slowest: tiles that read the same blocks of a or b run side by side and share them in L2.
    split_k_kernel[(tiles_m, tiles_n, SPLIT_K)](
        a,
        b,
        partial,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        SPLIT_K=SPLIT_K,
        num_warps=8 if BLOCK_M * BLOCK_N * a.element_size() > 2 * 128 * 128 else 4,
        num_stages=4,
    )
    # TODO 6: launch the reduction, with a BLOCK that keeps SPLIT_K * BLOCK values in a program's registers.
    return out

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
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    pid_k = tl.program_id(2)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m = offs_m[:, None] < m
    mask_n = offs_n[None, :] < n
    first_k = pid_k * BLOCK_K
    # 64 bits: with a K this long the last row of a, or of b, may start 2**31 elements behind the first.
    ks = (first_k + offs_k).to(tl.int64)
    step = tl.cast(SPLIT_K * BLOCK_K, tl.int64)
    a_ptrs = a_ptr + offs_m[:, None].to(tl.int64) * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + offs_n[None, :].to(tl.int64) * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    # Neighbouring splits read neighbouring blocks, so no share is more than one block longer than another,
    # and the end of K is the mask of day 17, whatever SPLIT_K is. All splits together read a and b once.
    for start_k in range(first_k, k, SPLIT_K * BLOCK_K):
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < k - start_k), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < k - start_k) & mask_n, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    # 4mn bytes for each split, in fp32: rounding is the epilogue's, and an epilogue runs once, after the sum.
    offs = pid_k * m * n + offs_m[:, None] * n + offs_n[None, :]
    tl.store(partial_ptr + offs, acc, mask=mask_m & mask_n)


@triton.jit
def reduce_kernel(partial_ptr, out_ptr, size, SPLIT_K: tl.constexpr, BLOCK: tl.constexpr):
    """out[i] = the sum of partial[:, i], always added in the same order."""
    offs_s = tl.arange(0, SPLIT_K)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < size
    # Reads 4mn bytes for each split, mostly from L2, where the first kernel has just left them.
    partial = tl.load(partial_ptr + offs_s[:, None] * size + offs[None, :], mask=mask[None, :])
    tl.store(out_ptr + offs, tl.sum(partial, axis=0), mask=mask)


def choose_split_k(tiles: int, blocks_k: int) -> int:
    """Return the largest power of two with at most PROGRAMS programs, and at least 4 blocks of K for each."""
    split_k = 1
    while 2 * split_k * tiles <= PROGRAMS and 2 * split_k * 4 <= blocks_k:
        split_k *= 2
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
    # 16384 partial sums a program, all loaded at once: 128 a thread.
    BLOCK = min(16384 // SPLIT_K, 1024)
    reduce_kernel[(triton.cdiv(m * n, BLOCK),)](partial, out, m * n, SPLIT_K=SPLIT_K, BLOCK=BLOCK)
    return out

"""Day 20, tuned: a matrix product with few tiles and a long K, by one launch.

What it does beyond the plain solution, and what that buys:

- One launch, of which Python takes 16 µs beside an H200, as long as the GPU over all of the work. All splits
  add their partial sums to one sheet by atomics, and the last one to arrive at a tile rounds it. The order of
  additions changes from run to run, and the last bits with it; on the GPU it is no faster.
- Whoever rounds a tile leaves its sums and its counter at 0, as it found them. So no launch has to fill them,
  and they wait for the next call.
"""

from __future__ import annotations

import functools

import torch
import triton
import triton.language as tl
from triton.runtime import driver

PROGRAMS = 128  # about one for each SM: an A100 has 108, an H200 132


@triton.jit
def split_k_kernel(
    a_ptr,
    b_ptr,
    sums_ptr,
    out_ptr,
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
    """out = a @ b; a program multiplies the blocks pid_k, pid_k + SPLIT_K, … of K for one tile."""
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
    for start_k in range(first_k, k, SPLIT_K * BLOCK_K):
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < k - start_k), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < k - start_k) & mask_n, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    offs = offs_m[:, None] * n + offs_n[None, :]
    mask = mask_m & mask_n
    if SPLIT_K == 1:
        tl.store(out_ptr + offs, acc, mask=mask)
    else:
        tl.atomic_add(sums_ptr + offs, acc, mask=mask, sem="relaxed")
        # All threads have added before one of them counts this program, and says so to those on other SMs.
        tl.debug_barrier()
        arrived_ptr = sums_ptr + m * n + pid_m * tl.num_programs(1) + pid_n
        arrived_ptr = arrived_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
        if tl.atomic_add(arrived_ptr, 1, sem="acq_rel") == SPLIT_K - 1:
            # From L2, where atomics are carried out: L1 may hold what was there before.
            acc = tl.load(sums_ptr + offs, mask=mask, cache_modifier=".cg")
            tl.store(out_ptr + offs, acc, mask=mask)
            tl.store(sums_ptr + offs, tl.zeros_like(acc), mask=mask)
            tl.store(arrived_ptr, 0)


@functools.cache
def choose_split_k(tiles: int, blocks_k: int) -> int:
    """Return the largest power of two with at most PROGRAMS programs, and at least 4 blocks of K for each."""
    split_k = 1
    while 2 * split_k * tiles <= PROGRAMS and 2 * split_k * 4 <= blocks_k:
        split_k *= 2
    return split_k


# By device and stream: calls on one stream never overlap.
ZEROS: dict[tuple[int, int], torch.Tensor] = {}


def zeros(size: int, a: torch.Tensor) -> torch.Tensor:
    """At least so many fp32 zeros on a's device, which the kernel leaves as it finds them."""
    device = a.get_device()
    # Triton's way to ask, since torch.cuda.current_stream takes 4 µs.
    stream = driver.active.get_current_stream(device) if a.is_cuda else 0
    found = ZEROS.get((device, stream))
    if found is None or found.numel() < size:
        found = torch.zeros(size, dtype=torch.float32, device=a.device)
        # What is made while a graph is captured is the graph's own.
        if not a.is_cuda or not torch.cuda.is_current_stream_capturing():
            ZEROS[device, stream] = found
    return found


def matmul_split_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a[m, k] @ b[k, n], of any strides, for small m and n and a huge k."""
    m, k = a.shape
    n = b.shape[1]
    out = a.new_empty(m, n)
    # Plain integers: triton.cdiv takes 2 µs a call.
    BLOCK_M = min(max(1 << (m - 1).bit_length(), 16), 128)
    BLOCK_N = min(max(1 << (n - 1).bit_length(), 16), 128)
    BLOCK_K = 128 // a.element_size()  # 128 bytes of a row of a: one cache line
    tiles_m, tiles_n = -(-m // BLOCK_M), -(-n // BLOCK_N)
    SPLIT_K = choose_split_k(tiles_m * tiles_n, -(-k // BLOCK_K))
    # Splits vary slowest: tiles that read the same blocks of a or b run side by side and share them in L2.
    split_k_kernel[(tiles_m, tiles_n, SPLIT_K)](
        a,
        b,
        zeros(m * n + tiles_m * tiles_n, a) if SPLIT_K > 1 else out,
        out,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        SPLIT_K=SPLIT_K,
        num_warps=8 if BLOCK_M * BLOCK_N > 64 * 128 else 4,
        num_stages=4,
    )
    return out

"""Extra: a matrix product whose tile, warps and stages follow from four facts about the GPU."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# BLOCK_M, BLOCK_N, BLOCK_K, threads and num_stages of 16-bit products, the best first.
# Operations for each element read: 171, 128, 128, 64, 32. The last fits every GPU, for the smallest problems.
CONFIGS = (
    (128, 256, 64, 256, 3),
    (128, 128, 64, 256, 3),
    (128, 128, 64, 256, 2),
    (64, 64, 64, 128, 3),
    (32, 32, 64, 128, 3),
)
# Without matrix units: 16 sums a thread, which leaves registers for the products. No copies run ahead.
PLAIN = (64, 64, 32, 256, 1)


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
    tiles_n = tl.cdiv(n, BLOCK_N)
    # 64 bits: products of offsets and strides pass 2**31 for matrices of a few gigabytes.
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    rows, cols = offs_m < m, offs_n < n
    # The first frame. Every later one lies the same step further on, so the loop adds and never multiplies.
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :].to(tl.int64) * stride_ak
    b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + offs_n[None, :] * stride_bn
    # The tile of c stays in registers, in fp32, from the first frame to the last.
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    # 64 bits: BLOCK_K rows of b are 2**31 elements where it has 2**25 columns.
    step = tl.cast(BLOCK_K, tl.int64)
    for left in range(k, 0, -BLOCK_K):
        # (BLOCK_M + BLOCK_N) * BLOCK_K elements a frame. In the last, lanes past k hold 0 on both sides.
        inner = offs_k < left
        a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    # The only write, and the only rounding to c's dtype.
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


def config(m: int, n: int, itemsize: int, sms: int, shared: int, capability: int) -> tuple[int, ...]:
    """Choose (BLOCK_M, BLOCK_N, BLOCK_K, threads, num_stages) for a[m, k] @ b[k, n].

    Args:
        itemsize: bytes of an element.
        sms, shared, capability: as `matmul` is given them.
    """
    choice = PLAIN
    # Triton gives fp16 and bf16 to matrix units from 80 on, whatever comes later; fp32 never, by IEEE.
    if itemsize == 2 and capability >= 80:
        for choice in CONFIGS:
            BLOCK_M, BLOCK_N, BLOCK_K, _, num_stages = choice
            # By the bytes that there are: 120 is a later number than 90, and has less than half of them.
            fits = (BLOCK_M + BLOCK_N) * BLOCK_K * itemsize * num_stages <= shared
            # A large tile reads less, but one that leaves SMs without work is no gain.
            if fits and triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N) >= sms:
                break
    return choice


def matmul(
    a: torch.Tensor, b: torch.Tensor, sms: int, shared: int, warp_size: int, capability: int
) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype.

    Args:
        sms: multiprocessors of the GPU.
        shared: bytes of shared memory that one program may have.
        warp_size: lanes of a warp: 32, or 64.
        capability: 75 for compute capability 7.5.
    """
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    chosen = config(m, n, a.element_size(), sms, shared, capability)
    BLOCK_M, BLOCK_N, BLOCK_K, threads, num_stages = chosen
    # Threads are what counts: a warp of 64 lanes stands for two of 32.
    num_warps = threads // warp_size
    grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)
    matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        a.shape[1],
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=num_warps,
        num_stages=num_stages,
    )
    return c

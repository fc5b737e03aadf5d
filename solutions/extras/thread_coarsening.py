"""Extra: a matmul whose programs compute several tiles side by side, as many as the caller says."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def strip_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    STRIP_N: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """A strip of c, BLOCK_M rows and STRIP_N columns, a program; BLOCK_N columns of it at a time."""
    strips = tl.cdiv(n, STRIP_N)
    # 64 bits: a matrix may have more than 2**31 elements.
    offs_m = (tl.program_id(0) // strips).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    first_n = (tl.program_id(0) % strips).to(tl.int64) * STRIP_N
    offs_k = tl.arange(0, BLOCK_K)
    rows = offs_m < m
    # Most strips fit into the registers whole: one turn, and each element of a is read once for the strip.
    for start_n in range(0, STRIP_N, BLOCK_N):
        offs_n = first_n + start_n + tl.arange(0, BLOCK_N)
        cols = offs_n < n
        a_ptrs = a_ptr + offs_m[:, None] * k + offs_k[None, :]
        b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * n + offs_n[None, :]
        # Each turn has sums of its own.
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        step = tl.cast(BLOCK_K, tl.int64)
        for left in range(k, 0, -BLOCK_K):
            # (BLOCK_M + BLOCK_N) * BLOCK_K elements. In the last piece, lanes past k hold 0 on both sides.
            inner = offs_k < left
            a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
            acc = tl.dot(a, b, acc)
            a_ptrs += BLOCK_K
            b_ptrs += step * n
        # One write, rounded to fp16 here and nowhere earlier.
        tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


def width_of(a: torch.Tensor, strip: int) -> int:
    """How many columns of a strip this GPU sums at a time."""
    # 128 x 256 sums are 128 registers of each of 256 threads; 128 x 512 would spill. Before Ampere, Triton
    # multiplies without matrix units, and factors take registers, too.
    ampere = not a.is_cuda or torch.cuda.get_device_capability(a.device) >= (8, 0)
    return min(strip, 256 if ampere else 64)


def piece_of(a: torch.Tensor, BLOCK_M: int, BLOCK_N: int) -> int:
    """How far three pieces of a and b may go along k, so that they fit into shared memory: 64 or 32."""
    frames = 3 * (BLOCK_M + BLOCK_N) * 64 * a.element_size()  # 144 KB for 128 x 256
    fits = not a.is_cuda or frames <= torch.cuda.get_device_properties(a.device).shared_memory_per_block_optin
    return 64 if fits else 32


def matmul_coarse(a: torch.Tensor, b: torch.Tensor, block: int, coarse: int) -> torch.Tensor:
    """Return a @ b as a new [m, n], for contiguous fp16 a[m, k] and b[k, n].

    A program computes `coarse` tiles of block x block side by side; block is 16, 32, 64 or 128, coarse 1, 2
    or 4.
    """
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    strip = block * coarse
    BLOCK_N = width_of(a, strip)
    # 0.67 of torch's speed on an H200 for 64 x 4: the caller's strip does 51 operations a byte from L2, where
    # day 18's 128 x 256 does 85.
    strip_kernel[(triton.cdiv(m, block) * triton.cdiv(n, strip),)](
        a,
        b,
        c,
        m,
        n,
        a.shape[1],
        BLOCK_M=block,
        STRIP_N=strip,
        BLOCK_N=BLOCK_N,
        BLOCK_K=piece_of(a, block, BLOCK_N),
        num_warps=8 if block * BLOCK_N > 8192 else 4,
        num_stages=3,
    )
    return c

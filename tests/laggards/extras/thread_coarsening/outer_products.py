"""Strips without tl.dot: one inner element at a time, a column of a times a row of b."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def strip_kernel(a_ptr, b_ptr, c_ptr, m, n, k, BLOCK_M: tl.constexpr, STRIP_N: tl.constexpr):
    """Two loads and BLOCK_M * STRIP_N products for every inner element."""
    strips = tl.cdiv(n, STRIP_N)
    offs_m = (tl.program_id(0) // strips).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % strips).to(tl.int64) * STRIP_N + tl.arange(0, STRIP_N)
    rows, cols = offs_m < m, offs_n < n
    acc = tl.zeros((BLOCK_M, STRIP_N), tl.float32)
    for inner in range(k):
        a = tl.load(a_ptr + offs_m * k + inner, mask=rows, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + inner * n + offs_n, mask=cols, other=0.0).to(tl.float32)
        acc += a[:, None] * b[None, :]
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


def matmul_coarse(a: torch.Tensor, b: torch.Tensor, block: int, coarse: int) -> torch.Tensor:
    """Return a @ b."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    strip = block * coarse
    grid = (triton.cdiv(m, block) * triton.cdiv(n, strip),)
    strip_kernel[grid](a, b, c, m, n, k, BLOCK_M=block, STRIP_N=strip, num_warps=8)
    return c

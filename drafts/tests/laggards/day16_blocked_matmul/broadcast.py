"""The product without tl.dot: a block [BLOCK_M, 16, BLOCK_N] of all products, summed over its middle."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, m, n, k, am, ak, bk, bn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Plain units only: 2 * BLOCK_M * BLOCK_N * k operations, one product a lane."""
    tiles_n = tl.cdiv(n, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, 16):
        offs_k = start + tl.arange(0, 16)
        a_mask = (offs_m < m)[:, None] & (offs_k < k)[None, :]
        a = tl.load(a_ptr + offs_m[:, None] * am + offs_k[None, :] * ak, mask=a_mask, other=0.0)
        b_mask = (offs_k < k)[:, None] & (offs_n < n)[None, :]
        b = tl.load(b_ptr + offs_k[:, None] * bk + offs_n[None, :] * bn, mask=b_mask, other=0.0)
        acc += tl.sum(a.to(tl.float32)[:, :, None] * b.to(tl.float32)[None, :, :], axis=1)
    mask = (offs_m < m)[:, None] & (offs_n < n)[None, :]
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32),)
    matmul_kernel[grid](
        a, b, c, m, n, a.shape[1], *a.stride(), *b.stride(), BLOCK_M=32, BLOCK_N=32, num_warps=8
    )
    return c

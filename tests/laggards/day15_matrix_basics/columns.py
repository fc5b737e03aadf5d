"""Matrix times vector by columns: y += a[:, j] * x[j], which suits a column-major matrix and no other."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def matvec_kernel(a_ptr, x_ptr, y_ptr, m, n, stride_am, stride_an, stride_x, BLOCK_M: tl.constexpr):
    """A lane a row: 256 lanes read 256 elements that lie stride_am apart."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    mask = offs_m < m
    a_ptrs = a_ptr + offs_m * stride_am
    acc = tl.zeros((BLOCK_M,), tl.float32)
    for _ in range(n):
        acc += tl.load(a_ptrs, mask=mask, other=0.0).to(tl.float32) * tl.load(x_ptr).to(tl.float32)
        a_ptrs += stride_an
        x_ptr += stride_x
    tl.store(y_ptr + offs_m, acc, mask=mask)


def matvec(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return a @ x."""
    m, n = a.shape
    y = torch.empty(m, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(m, 256),)
    matvec_kernel[grid](a, x, y, m, n, *a.stride(), x.stride(0), BLOCK_M=256)
    return y

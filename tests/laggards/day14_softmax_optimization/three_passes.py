"""Softmax as three kernels that meet in memory: maxima; exponentials and their sums; quotients."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def max_kernel(x_ptr, m_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.full((BLOCK_N,), -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_ptr + row * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
        m_i = tl.maximum(m_i, x.to(tl.float32))
    tl.store(m_ptr + row, tl.max(m_i, axis=0))


@triton.jit
def exp_kernel(x_ptr, y_ptr, m_ptr, l_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    m = tl.load(m_ptr + row)
    l_i = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_ptr + row * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
        p = tl.exp(x.to(tl.float32) - m)
        l_i += p
        tl.store(y_ptr + row * n_cols + start + offs_n, p, mask=mask)
    tl.store(l_ptr + row, tl.sum(l_i, axis=0))


@triton.jit
def divide_kernel(y_ptr, l_ptr, n_cols, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    l_i = tl.load(l_ptr + row)
    for start in range(0, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        p = tl.load(y_ptr + row * n_cols + start + offs_n, mask=mask).to(tl.float32)
        tl.store(y_ptr + row * n_cols + start + offs_n, p / l_i, mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n]."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    m = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    total = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    shape = {"BLOCK_N": min(triton.next_power_of_2(n_cols), 4096), "num_warps": 8}
    max_kernel[(n_rows,)](x, m, n_cols, x.stride(0), **shape)
    exp_kernel[(n_rows,)](x, y, m, total, n_cols, x.stride(0), **shape)
    divide_kernel[(n_rows,)](y, total, n_cols, **shape)
    return y

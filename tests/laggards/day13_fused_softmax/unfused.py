"""Softmax as five kernels that meet in memory: copy, max, exp, sum, divide."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + pid_m * stride_xm + offs_n, mask=mask)
    tl.store(y_ptr + pid_m * n_cols + offs_n, x, mask=mask)


@triton.jit
def max_kernel(y_ptr, m_ptr, n_cols, BLOCK_N: tl.constexpr):
    """Reads mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    y = tl.load(y_ptr + pid_m * n_cols + offs_n, mask=offs_n < n_cols, other=-float("inf")).to(tl.float32)
    tl.store(m_ptr + pid_m, tl.max(y, axis=0))


@triton.jit
def exp_kernel(y_ptr, m_ptr, n_cols, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    y = tl.load(y_ptr + pid_m * n_cols + offs_n, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + pid_m * n_cols + offs_n, tl.exp(y - tl.load(m_ptr + pid_m)), mask=mask)


@triton.jit
def sum_kernel(y_ptr, l_ptr, n_cols, BLOCK_N: tl.constexpr):
    """Reads mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    y = tl.load(y_ptr + pid_m * n_cols + offs_n, mask=offs_n < n_cols, other=0.0).to(tl.float32)
    tl.store(l_ptr + pid_m, tl.sum(y, axis=0))


@triton.jit
def divide_kernel(y_ptr, l_ptr, n_cols, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    y = tl.load(y_ptr + pid_m * n_cols + offs_n, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + pid_m * n_cols + offs_n, y / tl.load(l_ptr + pid_m), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n]."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    m_i = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    l_i = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    shape = {"BLOCK_N": triton.next_power_of_2(n_cols), "num_warps": 8}
    copy_kernel[(n_rows,)](x, y, n_cols, x.stride(0), **shape)
    max_kernel[(n_rows,)](y, m_i, n_cols, **shape)
    exp_kernel[(n_rows,)](y, m_i, n_cols, **shape)
    sum_kernel[(n_rows,)](y, l_i, n_cols, **shape)
    divide_kernel[(n_rows,)](y, l_i, n_cols, **shape)
    return y

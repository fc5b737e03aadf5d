"""Softmax by two kernels: the exponentials and their sum, then the quotients."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def exp_kernel(x_ptr, y_ptr, l_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + pid_m * stride_xm + offs_n, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + pid_m * n_cols + offs_n, numerator, mask=mask)
    tl.store(l_ptr + pid_m, tl.sum(numerator, axis=0))


@triton.jit
def divide_kernel(y_ptr, l_ptr, n_cols, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    y = tl.load(y_ptr + pid_m * n_cols + offs_n, mask=mask).to(tl.float32)
    tl.store(y_ptr + pid_m * n_cols + offs_n, y / tl.load(l_ptr + pid_m), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n]."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    l_i = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    shape = {"BLOCK_N": triton.next_power_of_2(n_cols), "num_warps": 8}
    exp_kernel[(n_rows,)](x, y, l_i, n_cols, x.stride(0), **shape)
    divide_kernel[(n_rows,)](y, l_i, n_cols, **shape)
    return y

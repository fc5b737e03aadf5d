"""Bias and GELU as two kernels that meet in memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def bias_kernel(x_ptr, bias_ptr, u_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    for start in range(0, n_cols, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        mask = offs_n < n_cols
        x = tl.load(x_ptr + pid_m * stride_xm + offs_n, mask=mask)
        bias = tl.load(bias_ptr + offs_n, mask=mask)
        tl.store(u_ptr + pid_m * n_cols + offs_n, x.to(tl.float32) + bias.to(tl.float32), mask=mask)


@triton.jit
def gelu_kernel(u_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Reads mn, writes mn."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    u = tl.load(u_ptr + offs, mask=mask).to(tl.float32)
    z = 0.7978845608028654 * (u + 0.044715 * u * u * u)
    tl.store(y_ptr + offs, u * tl.sigmoid(2.0 * z), mask=mask)


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return GELU(x + bias), tanh form."""
    n_rows, n_cols = x.shape
    u = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    bias_kernel[(n_rows,)](x, bias, u, n_cols, x.stride(0), BLOCK_N=min(triton.next_power_of_2(n_cols), 2048))
    gelu_kernel[(triton.cdiv(y.numel(), 2048),)](u, y, y.numel(), BLOCK=2048)
    return y

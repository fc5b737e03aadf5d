"""Layer norm as three kernels that meet in memory: means, reciprocal standard deviations, result."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x_ptr, mean_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn, writes m."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + pid_m * stride_xm + offs_n, mask=offs_n < n_cols, other=0.0).to(tl.float32)
    tl.store(mean_ptr + pid_m, tl.sum(x, axis=0) / n_cols)


@triton.jit
def rstd_kernel(x_ptr, mean_ptr, rstd_ptr, n_cols, stride_xm, eps, BLOCK_N: tl.constexpr):
    """Reads mn + m, writes m."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + pid_m * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, x - tl.load(mean_ptr + pid_m), 0.0)
    tl.store(rstd_ptr + pid_m, tl.rsqrt(tl.sum(centred * centred, axis=0) / n_cols + eps))


@triton.jit
def normalize_kernel(
    x_ptr, mean_ptr, rstd_ptr, weight_ptr, bias_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr
):
    """Reads mn + 2m + 2n, writes mn."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + pid_m * stride_xm + offs_n, mask=mask).to(tl.float32)
    y = (x - tl.load(mean_ptr + pid_m)) * tl.load(rstd_ptr + pid_m)
    if weight_ptr is not None:
        y *= tl.load(weight_ptr + offs_n, mask=mask).to(tl.float32)
    if bias_ptr is not None:
        y += tl.load(bias_ptr + offs_n, mask=mask).to(tl.float32)
    tl.store(y_ptr + pid_m * n_cols + offs_n, y, mask=mask)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
) -> torch.Tensor:
    """Return the layer norm of each row of x[m, n]."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    mean = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    rstd = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    shape = {"BLOCK_N": triton.next_power_of_2(n_cols), "num_warps": 8}
    mean_kernel[(n_rows,)](x, mean, n_cols, x.stride(0), **shape)
    rstd_kernel[(n_rows,)](x, mean, rstd, n_cols, x.stride(0), eps, **shape)
    normalize_kernel[(n_rows,)](x, mean, rstd, weight, bias, y, n_cols, x.stride(0), **shape)
    return y

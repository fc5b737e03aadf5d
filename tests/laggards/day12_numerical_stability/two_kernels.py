"""logsumexp as two kernels that meet in memory: the maxima of all rows, then the sums of all rows."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def max_kernel(x_ptr, m_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn, writes m."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.full((BLOCK_N,), -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_ptr + pid_m * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
        m_i = tl.maximum(m_i, x.to(tl.float32))
    tl.store(m_ptr + pid_m, tl.max(m_i, axis=0))


@triton.jit
def sum_kernel(x_ptr, m_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn + m, writes m."""
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    m = tl.load(m_ptr + pid_m)
    shift = tl.where(tl.abs(m) == float("inf"), 0.0, m)
    l_i = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_ptr + pid_m * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
        l_i += tl.exp(x.to(tl.float32) - shift)
    tl.store(y_ptr + pid_m, tl.log(tl.sum(l_i, axis=0)) + shift)


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    """Return log(sum(exp(row))) in fp32 for each row of x[m, n]."""
    n_rows, n_cols = x.shape
    m = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    y = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    shape = {"BLOCK_N": min(triton.next_power_of_2(n_cols), 4096), "num_warps": 8}
    max_kernel[(n_rows,)](x, m, n_cols, x.stride(0), **shape)
    sum_kernel[(n_rows,)](x, m, y, n_cols, x.stride(0), **shape)
    return y

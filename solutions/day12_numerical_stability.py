"""Day 12: log of a sum of exponentials, over rows whose exponentials no float could hold."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """y[pid_m] = log(sum(exp(x[pid_m, :]))); one program owns one row and walks it twice."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    pid_m = tl.program_id(0).to(tl.int64)
    x_row_ptr = x_ptr + pid_m * stride_xm
    offs_n = tl.arange(0, BLOCK_N)
    # First walk, n_cols elements from HBM. Each lane keeps the maximum of what it saw; one reduction a row.
    x = tl.load(x_row_ptr + offs_n, mask=offs_n < n_cols, other=-float("inf"))
    first = x.to(tl.float32)
    m_i = first
    for start in range(BLOCK_N, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_row_ptr + start + offs_n, mask=mask, other=-float("inf"))
        m_i = tl.maximum(m_i, x.to(tl.float32))
    m = tl.max(m_i, axis=0)
    # inf - inf is NaN. A row whose maximum is infinite needs no shift: log(0) and log(inf) are its answers.
    shift = tl.where(tl.abs(m) == float("inf"), 0.0, m)
    # Second walk. The first block is still in registers, so up to BLOCK_N columns are read once; the others
    # were read a moment ago, and come from cache and not from HBM.
    l_i = tl.exp(first - shift)
    for start in range(BLOCK_N, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_row_ptr + start + offs_n, mask=mask, other=-float("inf"))
        l_i += tl.exp(x.to(tl.float32) - shift)
    total = tl.sum(l_i, axis=0)
    # The only write: 4 bytes a row.
    tl.store(y_ptr + pid_m, tl.log(total) + shift)


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    """Return log(sum(exp(row))) in fp32 for each row of x[m, n]; rows may lie any distance apart."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    BLOCK_N = min(triton.next_power_of_2(n_cols), 8192)
    # Up to 64 elements a thread, so 16 loads of 16 bytes on their way in each: four warps of those keep HBM
    # busy, and reduce faster than sixteen.
    num_warps = min(max(BLOCK_N // 512, 1), 4)
    logsumexp_kernel[(n_rows,)](x, y, n_cols, x.stride(0), BLOCK_N=BLOCK_N, num_warps=num_warps)
    return y

"""Mean, max and argmax of every row by a kernel each."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def load_tile(x_ptr, n_rows, n_cols, stride_xm, start, other, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """A tile of this program's rows, as fp32."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = start + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    return tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=other).to(
        tl.float32
    )


@triton.jit
def mean_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Reads mn."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        acc += tl.sum(load_tile(x_ptr, n_rows, n_cols, stride_xm, start, 0.0, BLOCK_M, BLOCK_N), axis=1)
    tl.store(out_ptr + offs_m, acc / n_cols, mask=offs_m < n_rows)


@triton.jit
def max_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Reads mn."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        x = load_tile(x_ptr, n_rows, n_cols, stride_xm, start, -float("inf"), BLOCK_M, BLOCK_N)
        m_i = tl.maximum(m_i, tl.max(x, axis=1))
    tl.store(out_ptr + offs_m, m_i, mask=offs_m < n_rows)


@triton.jit
def argmax_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Reads mn."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    where = tl.zeros((BLOCK_M,), tl.int32)
    for start in range(0, n_cols, BLOCK_N):
        x = load_tile(x_ptr, n_rows, n_cols, stride_xm, start, -float("inf"), BLOCK_M, BLOCK_N)
        block_max, column = tl.max(x, axis=1, return_indices=True)
        where = tl.where(block_max > m_i, start + column, where)
        m_i = tl.maximum(m_i, block_max)
    tl.store(out_ptr + offs_m, where, mask=offs_m < n_rows)


def row_stats(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return mean, max and argmax of each row of x[m, n]."""
    n_rows, n_cols = x.shape
    mean = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    maximum = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    argmax = torch.empty(n_rows, dtype=torch.int64, device=x.device)
    BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
    shape = {"BLOCK_M": 4096 // BLOCK_N, "BLOCK_N": BLOCK_N}
    grid = (triton.cdiv(n_rows, shape["BLOCK_M"]),)
    mean_kernel[grid](x, mean, n_rows, n_cols, x.stride(0), **shape)
    max_kernel[grid](x, maximum, n_rows, n_cols, x.stride(0), **shape)
    argmax_kernel[grid](x, argmax, n_rows, n_cols, x.stride(0), **shape)
    return mean, maximum, argmax

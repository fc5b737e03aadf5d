"""Extra: L1 norms of rows, and rows divided by their L2 norm, with a gradient that leaves their length."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def l1_kernel(x_ptr, norm_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The sums of absolute values of BLOCK_M rows."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    rows = offs_m < n_rows
    mask = rows[:, None] & (offs_n < n_cols)[None, :]
    # 2 bytes an element of bf16, and 4 a row: next to nothing is written.
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(norm_ptr + offs_m, tl.sum(tl.abs(x), axis=1), mask=rows)


@triton.jit
def normalize_kernel(
    x_ptr, y_ptr, norm_ptr, n_rows, n_cols, stride_xm, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """y = x / max(norm, eps) for BLOCK_M rows, and their norms to keep."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    rows = offs_m < n_rows
    mask = rows[:, None] & (offs_n < n_cols)[None, :]
    # 2 bytes an element of bf16 in, 2 out: between the sum and the quotient the row stays in registers.
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0)
    # fp32 before the square: in fp16 256 * 256 is infinite already.
    x = x.to(tl.float32)
    norm = tl.sqrt(tl.sum(x * x, axis=1))
    # One division a row, and a product an element. Not tl.maximum, which may lose a NaN.
    scale = 1 / tl.where(norm < eps, eps, norm)
    y = x * scale[:, None]
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], y, mask=mask)
    # 4 bytes a row save backward a reduction.
    tl.store(norm_ptr + offs_m, norm, mask=rows)


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    norm_ptr,
    dx_ptr,
    n_rows,
    n_cols,
    stride_dym,
    stride_dyn,
    stride_xm,
    eps,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """dx for BLOCK_M rows: dy less its part along y, over the norm; where eps is larger, dy / eps alone."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    rows = offs_m < n_rows
    mask = rows[:, None] & (offs_n < n_cols)[None, :]
    # 4 bytes an element in, 2 out. 64 bits for dy, too: the columns of a transposed one lie n_rows apart.
    cols = offs_n.to(tl.int64)
    at_dy = offs_m[:, None] * stride_dym + cols[None, :] * stride_dyn
    dy = tl.load(dy_ptr + at_dy, mask=mask, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0).to(tl.float32)
    norm = tl.load(norm_ptr + offs_m, mask=rows, other=1.0)
    # y again, in fp32: x and the norm are kept, and not y.
    scale = 1 / tl.where(norm < eps, eps, norm)
    y = x * scale[:, None]
    # Below eps the divisor is a constant: nothing is to be projected.
    along = tl.where(norm < eps, 0.0, tl.sum(dy * y, axis=1))
    dx = (dy - y * along[:, None]) * scale[:, None]
    tl.store(dx_ptr + offs_m[:, None] * n_cols + offs_n[None, :], dx, mask=mask)


def blocks(n_cols: int) -> tuple[int, int, int]:
    """Return BLOCK_M, BLOCK_N and num_warps: whole rows, and some 4096 elements a program."""
    BLOCK_N = triton.next_power_of_2(n_cols)
    BLOCK_M = max(4096 // BLOCK_N, 1)
    # 16 to 32 elements a thread.
    return BLOCK_M, BLOCK_N, 8 if BLOCK_N <= 8192 else 16


class Normalize(torch.autograd.Function):
    """Tells autograd which kernel computes y, and which its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, eps: float) -> torch.Tensor:
        n_rows, n_cols = x.shape
        y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        norm = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        BLOCK_M, BLOCK_N, num_warps = blocks(n_cols)
        normalize_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
            x,
            y,
            norm,
            n_rows,
            n_cols,
            x.stride(0),
            eps,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=num_warps,
        )
        ctx.save_for_backward(x, norm)
        ctx.eps = eps
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, norm = ctx.saved_tensors
        n_rows, n_cols = x.shape
        dx = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        BLOCK_M, BLOCK_N, num_warps = blocks(n_cols)
        backward_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
            dy,
            x,
            norm,
            dx,
            n_rows,
            n_cols,
            *dy.stride(),
            x.stride(0),
            ctx.eps,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=num_warps,
        )
        return dx, None


def l1_norm(x: torch.Tensor) -> torch.Tensor:
    """Return the sums of |x[m, n]| along its rows, any distance apart: fp32 [m]."""
    n_rows, n_cols = x.shape
    norm = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    BLOCK_M, BLOCK_N, num_warps = blocks(n_cols)
    l1_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
        x, norm, n_rows, n_cols, x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=num_warps
    )
    return norm


def l2_normalize(x: torch.Tensor, eps: float) -> torch.Tensor:
    """Return x[m, n], rows any distance apart, each divided by the root of its sum of squares, or by eps."""
    return Normalize.apply(x, eps)

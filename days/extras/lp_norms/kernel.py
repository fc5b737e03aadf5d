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
    # TODO 1: the rows and columns of this tile, and which of them exist.
    # TODO 2: read each element once, and write one sum for each row.


@triton.jit
def normalize_kernel(
    x_ptr, y_ptr, norm_ptr, n_rows, n_cols, stride_xm, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """y = x / max(norm, eps) for BLOCK_M rows, and their norms to keep."""
    # TODO 3: the norms of these rows, in fp32.
    # TODO 4: rows of length 1, or shorter where eps is the divisor; read nothing a second time.
    # TODO 5: keep the norms.


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
    # TODO 6: read dy, which may lie in any way, x and the norms.
    # TODO 7: take out the part of dy that changes a row's length, but only where the norm is the divisor.
    # TODO 8: divide by what the rows were divided by, and store.


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

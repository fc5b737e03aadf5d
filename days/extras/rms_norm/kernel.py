"""Extra: RMS norm, forward and backward, each matrix read once and written once."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def forward_kernel(
    x_ptr,
    weight_ptr,
    y_ptr,
    rstd_ptr,
    n_rows,
    n_cols,
    stride_xm,
    eps,
    offset,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """y = x * rstd * (offset + weight) for BLOCK_M rows, and rstd = 1 / sqrt(mean of x^2 + eps) to keep."""
    # TODO 1: find this program's rows, and which lanes of the tile stand on an element that exists.
    # TODO 2: read the rows and the weight, once, and go to fp32.
    # TODO 3: rstd of each row; then y with offset + weight, rounded in its store. y's rows lie side by side.
    # TODO 4: keep rstd, one number a row.


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    weight_ptr,
    rstd_ptr,
    dx_ptr,
    dweight_part_ptr,
    n_rows,
    n_cols,
    rows_each,
    stride_dym,
    stride_dyn,
    stride_xm,
    offset,
    BLOCK_N: tl.constexpr,
    NUM_STAGES: tl.constexpr,
):
    """dx for this program's rows, and row pid of the partial sums: what those rows add to dweight."""
    # TODO 5: visit the rows from pid * rows_each on: rows_each of them, or fewer at the end.
    # TODO 6: read x and dy. Nobody promises how dy lies: use both of its strides.
    # TODO 7: store dx: dy times the weight, less the part of it that lies along x_hat, times rstd.
    # TODO 8: sum up what the rows add to dweight, and store the sum, once, in row pid.


@triton.jit
def column_sum_kernel(part_ptr, dweight_ptr, n_parts, n_cols, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N columns of dweight: the sums down the [n_parts, n_cols] matrix of partial sums."""
    # TODO 9: add all n_parts rows; round in the store, and nowhere earlier.


def column_sum(part: torch.Tensor, dweight: torch.Tensor) -> None:
    """Store the sums down the columns of part[n_parts, n_cols] in dweight[n_cols]."""
    n_parts, n_cols = part.shape
    # 4096 partial sums at once, 16 a thread; of 264 rows a program takes 32 columns, whole cache lines.
    BLOCK_P = min(triton.next_power_of_2(max(n_parts, 1)), 128)
    BLOCK_N = 4096 // BLOCK_P
    column_sum_kernel[(triton.cdiv(n_cols, BLOCK_N),)](
        part, dweight, n_parts, n_cols, BLOCK_P=BLOCK_P, BLOCK_N=BLOCK_N, num_warps=8
    )


class RMSNorm(torch.autograd.Function):
    """Tells autograd which kernels compute y, and which its gradients."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, eps: float, offset: float) -> torch.Tensor:
        n_rows, n_cols = x.shape
        y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        rstd = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        # About 8192 elements a program: at n = 4096 two rows, which share one read of the weight.
        BLOCK_N = triton.next_power_of_2(n_cols)
        BLOCK_M = max(8192 // BLOCK_N, 1)
        forward_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
            x,
            weight,
            y,
            rstd,
            n_rows,
            n_cols,
            x.stride(0),
            eps,
            offset,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=8 if BLOCK_N <= 8192 else 16,
        )
        ctx.save_for_backward(x, weight, rstd)
        ctx.offset = offset
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight, rstd = ctx.saved_tensors
        n_rows, n_cols = x.shape
        dx = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        dweight = torch.empty_like(weight)
        BLOCK_N = triton.next_power_of_2(n_cols)
        num_warps = min(max(BLOCK_N // 512, 1), 32)
        programs = 2
        # TODO 10: two are enough on a CPU. How many does a GPU run at once?
        rows_each = max(triton.cdiv(n_rows, programs), 1)
        n_parts = triton.cdiv(n_rows, rows_each)
        # 4n bytes a program: 264 of them are 1.1 % of what 16384 rows of bf16 move.
        part = torch.empty(n_parts, n_cols, dtype=torch.float32, device=x.device)
        backward_kernel[(n_parts,)](
            dy,
            x,
            weight,
            rstd,
            dx,
            part,
            n_rows,
            n_cols,
            rows_each,
            *dy.stride(),
            x.stride(0),
            ctx.offset,
            BLOCK_N=BLOCK_N,
            # Rows on their way wait in shared memory, x and dy: in 64 KiB for any GPU, and at most two pairs.
            NUM_STAGES=1 + min(65536 // (2 * BLOCK_N * x.element_size()), 2),
            num_warps=num_warps,
        )
        column_sum(part, dweight)
        return dx, dweight, None, None


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float, offset: float) -> torch.Tensor:
    """Return x[m, n], rows any distance apart, with mean square 1 in each row, times offset + weight[n]."""
    return RMSNorm.apply(x, weight, eps, offset)

"""Extra: dynamic tanh, the layer that stands where a norm did, forward and backward in one pass each."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def tanh(z):
    """tanh of fp32 numbers of any size."""
    # TODO 1: tanh by one sigmoid. What does it give at 1e4 and at -1e4?


@triton.jit
def forward_kernel(
    x_ptr,
    alpha_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    n_rows,
    n_cols,
    stride_xm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """y = weight * tanh(alpha * x) + bias; a program owns a tile of BLOCK_M rows and BLOCK_N columns."""
    # TODO 2: this program's tile, as on day 09; rows of x any distance apart, those of y side by side.
    # TODO 3: read each of the four, alpha here on the GPU, and write y, rounded once.


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    alpha_ptr,
    weight_ptr,
    dx_ptr,
    dalpha_part_ptr,
    dweight_part_ptr,
    dbias_part_ptr,
    n_rows,
    n_cols,
    rows_each,
    stride_dym,
    stride_dyn,
    stride_xm,
    BLOCK_N: tl.constexpr,
):
    """dx for BLOCK_N columns of rows_each rows, and what these elements add to the other gradients."""
    # TODO 4: program ids count strips of columns first, then chunks of rows. Which are this program's?
    # TODO 5: visit the rows from chunk * rows_each on. Read x and dy, which may lie in any way, and store dx.
    # TODO 6: add up in fp32: what these elements say of alpha, and what each column says of weight and bias.
    # TODO 7: store the sums where nobody else does: dalpha's by program, the others by chunk and column.


@triton.jit
def column_sum_kernel(part_ptr, out_ptr, n_parts, n_cols, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N columns of out: the sums down the [n_parts, n_cols] matrix of partial sums."""
    # TODO 8: add all n_parts rows; round in the store, and nowhere earlier.


def column_sum(part: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the sums down the columns of part[n_parts, n_cols] as a new [n_cols] of this dtype."""
    n_parts, n_cols = part.shape
    out = torch.empty(n_cols, dtype=dtype, device=part.device)
    # 4096 partial sums at once; where there is one column alone, all of them are of that one.
    BLOCK_N = min(triton.next_power_of_2(n_cols), 32)
    column_sum_kernel[(triton.cdiv(n_cols, BLOCK_N),)](
        part, out, n_parts, n_cols, BLOCK_P=4096 // BLOCK_N, BLOCK_N=BLOCK_N, num_warps=8
    )
    return out


class DynamicTanh(torch.autograd.Function):
    """Tells autograd which kernels compute y, and which its gradients."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, alpha: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        n_rows, n_cols = x.shape
        y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        # 32 elements a thread at 4 warps; tiles of 4 rows read weight and bias a quarter as often.
        BLOCK_N = min(triton.next_power_of_2(n_cols), 1024)
        BLOCK_M = 4096 // BLOCK_N
        forward_kernel[(triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_cols, BLOCK_N),)](
            x,
            alpha,
            weight,
            bias,
            y,
            n_rows,
            n_cols,
            x.stride(0),
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        # Neither y nor tanh: both are one look at x away. Nobody needs bias again.
        ctx.save_for_backward(x, alpha, weight)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, alpha, weight = ctx.saved_tensors
        n_rows, n_cols = x.shape
        dx = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        BLOCK_N = min(triton.next_power_of_2(n_cols), 2048)
        strips = triton.cdiv(n_cols, BLOCK_N)
        programs = 2 * strips
        # TODO 9: two chunks are enough on a CPU. How many programs of 4 warps keep a GPU busy?
        rows_each = max(triton.cdiv(n_rows, max(programs // strips, 1)), 1)
        chunks = triton.cdiv(n_rows, rows_each)
        # 8n bytes a chunk: 264 of them are 2 % of what 16384 rows of bf16 move.
        dalpha_part = torch.empty(chunks * strips, 1, dtype=torch.float32, device=x.device)
        dweight_part = torch.empty(chunks, n_cols, dtype=torch.float32, device=x.device)
        dbias_part = torch.empty(chunks, n_cols, dtype=torch.float32, device=x.device)
        backward_kernel[(chunks * strips,)](
            dy,
            x,
            alpha,
            weight,
            dx,
            dalpha_part,
            dweight_part,
            dbias_part,
            n_rows,
            n_cols,
            rows_each,
            *dy.stride(),
            x.stride(0),
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        return dx, *(column_sum(part, x.dtype) for part in (dalpha_part, dweight_part, dbias_part))


def dyt(x: torch.Tensor, alpha: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return weight * tanh(alpha * x) + bias for x[m, n], rows any distance apart; alpha[1], the rest [n]."""
    return DynamicTanh.apply(x, alpha, weight, bias)

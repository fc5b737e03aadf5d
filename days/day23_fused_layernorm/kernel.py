"""Day 23: residual add and layer norm in one kernel, and the backward pass that makes it trainable."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def forward_kernel(
    x_ptr,
    residual_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    s_ptr,
    mean_ptr,
    rstd_ptr,
    n_cols,
    stride_xm,
    stride_rm,
    eps,
    BLOCK_N: tl.constexpr,
):
    """One row of s = x + residual and of its layer norm y; mean and 1 / deviation are kept for later."""
    # TODO 1: read the row of x and of residual, once, and store their sum: s has rows of its own.
    # TODO 2: normalise the row of s as on day 22, and store y.
    # TODO 3: store what the backward pass would otherwise have to compute again: two numbers for the row.


@triton.jit
def backward_kernel(
    dy_ptr,
    ds_ptr,
    s_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dweight_part_ptr,
    dbias_part_ptr,
    n_rows,
    n_cols,
    rows_each,
    stride_dym,
    stride_dyn,
    stride_dsm,
    stride_dsn,
    BLOCK_N: tl.constexpr,
    NUM_STAGES: tl.constexpr,
):
    """dx for this program's rows, and row pid of both partial sums: what those rows add to dweight, dbias."""
    # TODO 4: visit the rows from pid * rows_each on: rows_each of them, or fewer at the end.
    # TODO 5: read s, dy and, unless ds_ptr is None, ds. Nobody promises how dy and ds lie: use strides.
    # TODO 6: store dx: what comes through the norm, and what comes straight from s.
    # TODO 7: sum up what the rows add to dweight and dbias, and store both sums, once, in row pid.


@triton.jit
def column_sum_kernel(
    dweight_part_ptr,
    dbias_part_ptr,
    dweight_ptr,
    dbias_ptr,
    n_parts,
    n_cols,
    BLOCK_P: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """BLOCK_N columns of dweight and dbias: the sums down both [n_parts, n_cols] matrices of partial sums."""
    # TODO 8: add all n_parts rows of both matrices; round in the store, and nowhere earlier.


def block_and_warps(n_cols: int) -> tuple[int, int]:
    """Return BLOCK_N, which holds a row, and the warps that give each thread 16 elements of it."""
    BLOCK_N = triton.next_power_of_2(n_cols)
    return BLOCK_N, min(max(BLOCK_N // 512, 1), 16)


def column_sum(
    dweight_part: torch.Tensor, dbias_part: torch.Tensor, dweight: torch.Tensor, dbias: torch.Tensor
) -> None:
    """Store the sums down the columns of both [n_parts, n_cols] matrices in dweight and dbias."""
    n_parts, n_cols = dweight_part.shape
    # 4096 partial sums of each kind at once, 16 a thread. Of 261 rows a program then takes 32 columns: 128
    # bytes of each row, whole cache lines; and 4096 columns make 128 programs.
    BLOCK_P = min(triton.next_power_of_2(max(n_parts, 1)), 128)
    BLOCK_N = 4096 // BLOCK_P
    column_sum_kernel[(triton.cdiv(n_cols, BLOCK_N),)](
        dweight_part,
        dbias_part,
        dweight,
        dbias,
        n_parts,
        n_cols,
        BLOCK_P=BLOCK_P,
        BLOCK_N=BLOCK_N,
        num_warps=8,
    )


class AddLayerNorm(torch.autograd.Function):
    """Tells autograd which kernels compute y and s, and which their gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        residual: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        eps: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        n_rows, n_cols = x.shape
        y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        s = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
        mean = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        rstd = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        BLOCK_N, num_warps = block_and_warps(n_cols)
        forward_kernel[(n_rows,)](
            x,
            residual,
            weight,
            bias,
            y,
            s,
            mean,
            rstd,
            n_cols,
            x.stride(0),
            residual.stride(0),
            eps,
            BLOCK_N=BLOCK_N,
            num_warps=num_warps,
        )
        # s is an output: keeping it costs nothing. Neither x nor residual is needed again.
        ctx.save_for_backward(s, weight, mean, rstd)
        # An output that nobody uses then has None for its gradient, not a matrix of zeros.
        ctx.set_materialize_grads(False)
        return y, s

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor, ds: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        s, weight, mean, rstd = ctx.saved_tensors
        if dy is None:
            return ds, ds, None, None, None
        n_rows, n_cols = s.shape
        dx = torch.empty_like(s)
        dweight = torch.empty_like(weight)
        dbias = torch.empty_like(weight)
        BLOCK_N, num_warps = block_and_warps(n_cols)
        programs = 2
        # TODO 9: 2 is enough without a GPU. How many fill a GPU whose rows need num_warps warps?
        rows_each = max(triton.cdiv(n_rows, programs), 1)
        n_parts = triton.cdiv(n_rows, rows_each)
        # 8n bytes a program: for 264 of them 1.6 % of what 16384 rows of bf16 move.
        dweight_part = torch.empty(n_parts, n_cols, dtype=torch.float32, device=s.device)
        dbias_part = torch.empty(n_parts, n_cols, dtype=torch.float32, device=s.device)
        backward_kernel[(n_parts,)](
            dy,
            ds,
            s,
            weight,
            mean,
            rstd,
            dx,
            dweight_part,
            dbias_part,
            n_rows,
            n_cols,
            rows_each,
            *dy.stride(),
            *((0, 0) if ds is None else ds.stride()),
            BLOCK_N=BLOCK_N,
            # Rows on their way wait in shared memory, 2 x 3n elements; of 8192 fp32 only 1 x 3n fit.
            NUM_STAGES=3 if BLOCK_N * s.element_size() <= 16384 else 2,
            num_warps=num_warps,
        )
        column_sum(dweight_part, dbias_part, dweight, dbias)
        # x and residual enter s alike, so one tensor is the gradient of both, as for torch's own add.
        return dx, dx, dweight, dbias, None


def add_layer_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the layer norm of s = x + residual, both [m, n] with rows any distance apart, and s itself."""
    return AddLayerNorm.apply(x, residual, weight, bias, eps)

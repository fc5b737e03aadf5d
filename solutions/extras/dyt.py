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
    # The only exponential stands in a denominator: where it is Inf the quotient is 0, and right.
    return 2 * tl.sigmoid(2 * z) - 1


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
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    # 64 bits: a row may start 2**31 elements or more after the first one.
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    cols = offs_n < n_cols
    mask = (offs_m < n_rows)[:, None] & cols[None, :]
    # One element in and one out, 4 bytes of bf16. What all rows share comes from L2. alpha is read here: a
    # launcher that read it would wait for the GPU.
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0)
    alpha = tl.load(alpha_ptr).to(tl.float32)
    weight = tl.load(weight_ptr + offs_n, mask=cols, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + offs_n, mask=cols, other=0.0).to(tl.float32)
    y = weight[None, :] * tanh(alpha * x.to(tl.float32)) + bias[None, :]
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], y, mask=mask)


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
    # No element needs its row: programs share columns as well as rows.
    strips = tl.cdiv(n_cols, BLOCK_N)
    chunk = (tl.program_id(0) // strips).to(tl.int64)
    # 64 bits here too: the columns of a transposed dy lie n_rows apart.
    offs_n = (tl.program_id(0) % strips).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    alpha = tl.load(alpha_ptr).to(tl.float32)
    weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    # In fp32, and in registers until the last row. dalpha's lanes meet after the loop, and not in every row.
    dalpha = tl.zeros((BLOCK_N,), tl.float32)
    dweight = tl.zeros((BLOCK_N,), tl.float32)
    dbias = tl.zeros((BLOCK_N,), tl.float32)
    # While one row is computed, the next two are on their way.
    for row in tl.range(chunk * rows_each, min((chunk + 1) * rows_each, n_rows), num_stages=3):
        # 2 elements in and one out, 6 bytes of bf16; tanh is cheaper to compute again than to read.
        x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride_dym + offs_n * stride_dyn, mask=mask, other=0.0).to(tl.float32)
        t = tanh(alpha * x)
        # What arrives at alpha * x; it goes on to both of its factors.
        dz = dy * weight * (1 - t) * (1 + t)
        tl.store(dx_ptr + row * n_cols + offs_n, dz * alpha, mask=mask)
        dalpha += dz * x
        dweight += dy * t
        dbias += dy
    # Each program has places of its own, so no two ever write to the same one.
    tl.store(dalpha_part_ptr + tl.program_id(0), tl.sum(dalpha, axis=0))
    tl.store(dweight_part_ptr + chunk * n_cols + offs_n, dweight, mask=mask)
    tl.store(dbias_part_ptr + chunk * n_cols + offs_n, dbias, mask=mask)


@triton.jit
def column_sum_kernel(part_ptr, out_ptr, n_parts, n_cols, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N columns of out: the sums down the [n_parts, n_cols] matrix of partial sums."""
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    for start in range(0, n_parts, BLOCK_P):
        offs_p = start + tl.arange(0, BLOCK_P)
        mask = (offs_p < n_parts)[:, None] & (offs_n < n_cols)[None, :]
        acc += tl.load(part_ptr + offs_p[:, None] * n_cols + offs_n[None, :], mask=mask, other=0.0)
    # The only rounding of this gradient.
    tl.store(out_ptr + offs_n, tl.sum(acc, axis=0), mask=offs_n < n_cols)


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
        if x.is_cuda:
            # 4 programs of 4 warps for every SM.
            sms = torch.cuda.get_device_properties(x.device).multi_processor_count
            programs = 4 * sms
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

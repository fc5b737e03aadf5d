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
    # 64 bits: a row may start 2**31 elements or more after the first one.
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    rows, cols = offs_m < n_rows, offs_n < n_cols
    mask = rows[:, None] & cols[None, :]
    # n elements a row from HBM; the weight comes from L2, asked for before anybody waits for a sum.
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0)
    weight = tl.load(weight_ptr + offs_n, mask=cols, other=0.0)
    # fp32 before the square: in fp16 256 * 256 is infinite already.
    x = x.to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1) / n_cols + eps)
    # offset + weight in fp32 too: beside 1 a small bf16 weight would lose its last digits.
    y = x * rstd[:, None] * (offset + weight.to(tl.float32))[None, :]
    # n elements a row to HBM, rounded here and nowhere earlier; 4 bytes a row save backward this reduction.
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], y, mask=mask)
    tl.store(rstd_ptr + offs_m, rstd, mask=rows)


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
    pid = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    # 64 bits here too: the columns of a transposed dy lie n_rows apart.
    cols = offs_n.to(tl.int64)
    gain = offset + tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    # In fp32, and in registers until the last row: a sum over m rows, rounded at every step, would stall.
    dweight = tl.zeros((BLOCK_N,), tl.float32)
    # While one row is computed, the next ones are already on their way.
    for row in tl.range(pid * rows_each, min((pid + 1) * rows_each, n_rows), num_stages=NUM_STAGES):
        # 2n elements from HBM. Whoever uses y decides how dy lies, so it may lie in any way.
        x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride_dym + cols * stride_dyn, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x_hat = x * rstd
        dweight += dy * x_hat
        dx_hat = dy * gain
        along_x_hat = tl.sum(dx_hat * x_hat, axis=0) / n_cols
        # n elements to HBM.
        dx = (dx_hat - x_hat * along_x_hat) * rstd
        tl.store(dx_ptr + row * n_cols + offs_n, dx, mask=mask)
    # Each program has a row of its own, so no two programs ever write to the same place.
    tl.store(dweight_part_ptr + pid * n_cols + offs_n, dweight, mask=mask)


@triton.jit
def column_sum_kernel(part_ptr, dweight_ptr, n_parts, n_cols, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N columns of dweight: the sums down the [n_parts, n_cols] matrix of partial sums."""
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    for start in range(0, n_parts, BLOCK_P):
        offs_p = start + tl.arange(0, BLOCK_P)
        mask = (offs_p < n_parts)[:, None] & (offs_n < n_cols)[None, :]
        acc += tl.load(part_ptr + offs_p[:, None] * n_cols + offs_n[None, :], mask=mask, other=0.0)
    # The only rounding of dweight.
    tl.store(dweight_ptr + offs_n, tl.sum(acc, axis=0), mask=offs_n < n_cols)


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
        if x.is_cuda:
            # 16 warps with 128 registers a thread fill an SM: two programs, if a row is 4096 wide.
            sms = torch.cuda.get_device_properties(x.device).multi_processor_count
            programs = sms * max(16 // num_warps, 1)
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

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
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    # 2n elements from HBM; weight and bias are the same for every row and stay in L2.
    x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + row * stride_rm + offs_n, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    # Rounded here, because the backward pass will see s as it is stored: both must mean the same row.
    s = (x + residual).to(s_ptr.dtype.element_ty)
    tl.store(s_ptr + row * n_cols + offs_n, s, mask=mask)
    s = s.to(tl.float32)
    mean = tl.sum(s, axis=0) / n_cols
    # Lanes past the row hold 0, so less the mean they would count in the variance.
    centred = tl.where(mask, s - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    # 2n elements to HBM, s and y, and 8 bytes a row that save the backward pass two reductions.
    tl.store(y_ptr + row * n_cols + offs_n, centred * rstd * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


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
    pid = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    # 64 bits here too: the columns of a transposed dy lie n_rows apart.
    cols = offs_n.to(tl.int64)
    weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    # In fp32, and in registers until the last row: a sum over m rows, rounded at every step, would stall.
    dweight = tl.zeros((BLOCK_N,), tl.float32)
    dbias = tl.zeros((BLOCK_N,), tl.float32)
    # While one row is computed, the next ones are already on their way.
    for row in tl.range(pid * rows_each, min((pid + 1) * rows_each, n_rows), num_stages=NUM_STAGES):
        # 3n elements from HBM. Whoever uses y and s decides how dy and ds lie, so they may lie in any way.
        s = tl.load(s_ptr + row * n_cols + offs_n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride_dym + cols * stride_dyn, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x_hat = (s - tl.load(mean_ptr + row)) * rstd
        dweight += dy * x_hat
        dbias += dy
        # Past the row dy is 0, so x_hat may be anything there.
        dx_hat = dy * weight
        along_mean = tl.sum(dx_hat, axis=0) / n_cols
        along_x_hat = tl.sum(dx_hat * x_hat, axis=0) / n_cols
        dx = (dx_hat - along_mean - x_hat * along_x_hat) * rstd
        if ds_ptr is not None:
            ds = tl.load(ds_ptr + row * stride_dsm + cols * stride_dsn, mask=mask, other=0.0)
            dx += ds.to(tl.float32)
        # n elements to HBM: the gradient of x and of residual, which is the same.
        tl.store(dx_ptr + row * n_cols + offs_n, dx, mask=mask)
    # Each program has a row of its own, so no two programs ever write to the same place.
    tl.store(dweight_part_ptr + pid * n_cols + offs_n, dweight, mask=mask)
    tl.store(dbias_part_ptr + pid * n_cols + offs_n, dbias, mask=mask)


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
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dweight = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    dbias = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    for start in range(0, n_parts, BLOCK_P):
        offs_p = start + tl.arange(0, BLOCK_P)
        offs = offs_p[:, None] * n_cols + offs_n[None, :]
        mask = (offs_p < n_parts)[:, None] & (offs_n < n_cols)[None, :]
        dweight += tl.load(dweight_part_ptr + offs, mask=mask, other=0.0)
        dbias += tl.load(dbias_part_ptr + offs, mask=mask, other=0.0)
    # The only rounding of dweight and dbias.
    tl.store(dweight_ptr + offs_n, tl.sum(dweight, axis=0), mask=offs_n < n_cols)
    tl.store(dbias_ptr + offs_n, tl.sum(dbias, axis=0), mask=offs_n < n_cols)


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
        if s.is_cuda:
            # 16 warps with 128 registers a thread fill an SM: two programs, if a row is 4096 wide.
            sms = torch.cuda.get_device_properties(s.device).multi_processor_count
            programs = sms * (16 // num_warps)
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

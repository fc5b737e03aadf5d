"""RMS norm with a table of warps, int32 offsets, dy made contiguous, partial dW by SM count."""

import torch
import triton
import triton.language as tl


def calculate_settings(n):
    BLOCK_SIZE = triton.next_power_of_2(n)
    num_warps = 16 if BLOCK_SIZE >= 8192 else 8 if BLOCK_SIZE >= 2048 else 4
    return BLOCK_SIZE, num_warps


@triton.jit
def _rms_norm_forward(Y, X, W, RSTD, X_stride, Y_stride, n_cols, eps, offset, BLOCK_SIZE: tl.constexpr):
    row_idx = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    X_row = tl.load(X + row_idx * X_stride + cols, mask=mask, other=0).to(tl.float32)
    W_row = tl.load(W + cols, mask=mask, other=0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(X_row * X_row, axis=0) / n_cols + eps)
    tl.store(RSTD + row_idx, rstd)
    Y_row = X_row * rstd * (offset + W_row)
    tl.store(Y + row_idx * Y_stride + cols, Y_row.to(Y.dtype.element_ty), mask=mask)


@triton.jit
def _rms_norm_backward(
    dY, dX, X, W, RSTD, dW, X_stride, n_rows, n_cols, offset, rows_per_program, BLOCK_SIZE: tl.constexpr
):
    pid = tl.program_id(0)
    row_start = pid * rows_per_program
    row_end = min(row_start + rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    dW_row = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    W_row = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32) + offset
    for row_idx in range(row_start, row_end):
        dY_row = tl.load(dY + row_idx * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        X_row = tl.load(X + row_idx * X_stride + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(RSTD + row_idx)
        m = dY_row * W_row
        dX_row = rstd * m - rstd * rstd * rstd * X_row * (tl.sum(m * X_row, axis=0) / n_cols)
        dW_row += dY_row * (X_row * rstd)
        tl.store(dX + row_idx * n_cols + cols, dX_row.to(dX.dtype.element_ty), mask=mask)
    tl.store(dW + pid * n_cols + cols, dW_row, mask=mask)


@triton.jit
def _reduce_dw(PART, DW, n_parts, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, n_parts, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < n_parts) & (cols[None, :] < n_cols)
        acc += tl.load(PART + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
    tl.store(DW + cols, tl.sum(acc, axis=0).to(DW.dtype.element_ty), mask=cols < n_cols)


class RMSNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, X, W, eps, offset):
        n_rows, n_cols = X.shape
        BLOCK_SIZE, num_warps = calculate_settings(n_cols)
        Y = torch.empty((n_rows, n_cols), dtype=X.dtype, device=X.device)
        RSTD = torch.empty(n_rows, dtype=torch.float32, device=X.device)
        args = (X.stride(0), Y.stride(0), n_cols, eps, offset)
        _rms_norm_forward[(n_rows,)](Y, X, W, RSTD, *args, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps)
        ctx.save_for_backward(X, W, RSTD)
        ctx.offset = offset
        return Y

    @staticmethod
    def backward(ctx, dY):
        dY = dY.contiguous()
        X, W, RSTD = ctx.saved_tensors
        n_rows, n_cols = dY.shape
        BLOCK_SIZE, num_warps = calculate_settings(n_cols)
        sms = torch.cuda.get_device_properties(X.device).multi_processor_count if X.is_cuda else 64
        programs = 2 * sms
        part = torch.empty((programs, n_cols), dtype=torch.float32, device=X.device)
        dX = torch.empty_like(dY)
        dW = torch.empty_like(W)
        args = (X.stride(0), n_rows, n_cols, ctx.offset, triton.cdiv(n_rows, programs))
        _rms_norm_backward[(programs,)](
            dY, dX, X, W, RSTD, part, *args, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
        )
        _reduce_dw[(triton.cdiv(n_cols, 32),)](part, dW, programs, n_cols, BLOCK_M=64, BLOCK_N=32)
        return dX, dW, None, None


def rms_norm(x, weight, eps=1e-6, offset=0.0):
    return RMSNormFunction.apply(x, weight, eps, offset)

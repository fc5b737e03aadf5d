"""Add + layer norm in Liger's manner: a row a program forward, rows per SM backward, int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def _add_layer_norm_fwd(
    X, R, W, B, Y, S, Mean, RSTD, x_stride, r_stride, n_cols, eps, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(X + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(R + row * r_stride + cols, mask=mask, other=0.0).to(tl.float32)
    s_out = (x + r).to(S.dtype.element_ty)
    tl.store(S + row * n_cols + cols, s_out, mask=mask)
    s = s_out.to(tl.float32)
    mean = tl.sum(s, axis=0) / n_cols
    centered = tl.where(mask, s - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centered * centered, axis=0) / n_cols + eps)
    tl.store(Mean + row, mean)
    tl.store(RSTD + row, rstd)
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(B + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(Y + row * n_cols + cols, centered * rstd * w + b, mask=mask)


@triton.jit
def _add_layer_norm_bwd(
    DY,
    DS,
    S,
    W,
    Mean,
    RSTD,
    DX,
    DW,
    DB,
    dy_stride,
    dy_col,
    ds_stride,
    ds_col,
    n_rows,
    n_cols,
    rows_per_program,
    HAS_DS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    db = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    row_end = min((pid + 1) * rows_per_program, n_rows)
    for row in range(pid * rows_per_program, row_end):
        s = tl.load(S + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(DY + row * dy_stride + cols * dy_col, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(Mean + row)
        rstd = tl.load(RSTD + row)
        x_hat = tl.where(mask, (s - mean) * rstd, 0.0)
        wdy = w * dy
        c1 = tl.sum(x_hat * wdy, axis=0) / n_cols
        c2 = tl.sum(wdy, axis=0) / n_cols
        dx = (wdy - (x_hat * c1 + c2)) * rstd
        if HAS_DS:
            dx += tl.load(DS + row * ds_stride + cols * ds_col, mask=mask, other=0.0).to(tl.float32)
        tl.store(DX + row * n_cols + cols, dx, mask=mask)
        dw += dy * x_hat
        db += dy
    tl.store(DW + pid * n_cols + cols, dw, mask=mask)
    tl.store(DB + pid * n_cols + cols, db, mask=mask)


@triton.jit
def _reduce_dwdb(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + offs, mask=mask, other=0.0)
        db += tl.load(DB + offs, mask=mask, other=0.0)
    tl.store(FINAL_DW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(FINAL_DB + cols, tl.sum(db, axis=0), mask=cols < N)


def calculate_settings(n):
    BLOCK_SIZE = triton.next_power_of_2(n)
    num_warps = 16 if BLOCK_SIZE >= 8192 else 8 if BLOCK_SIZE >= 2048 else 4
    return BLOCK_SIZE, num_warps


class AddLayerNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, bias, eps):
        n_rows, n_cols = x.shape
        assert weight.shape[0] == n_cols and residual.shape == x.shape
        y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
        s = torch.empty_like(y)
        mean = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        rstd = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        BLOCK_SIZE, num_warps = calculate_settings(n_cols)
        _add_layer_norm_fwd[(n_rows,)](
            x,
            residual,
            weight,
            bias,
            y,
            s,
            mean,
            rstd,
            x.stride(0),
            residual.stride(0),
            n_cols,
            eps,
            BLOCK_SIZE=BLOCK_SIZE,
            num_warps=num_warps,
        )
        ctx.save_for_backward(s, weight, mean, rstd)
        ctx.set_materialize_grads(False)
        return y, s

    @staticmethod
    def backward(ctx, dy, ds):
        if dy is None:
            return ds, ds, None, None, None
        s, w, mean, rstd = ctx.saved_tensors
        n_rows, n_cols = s.shape
        BLOCK_SIZE, num_warps = calculate_settings(n_cols)
        sm_count = 64
        if s.is_cuda:
            sm_count = torch.cuda.get_device_properties(s.device).multi_processor_count
        programs = max(1, min(n_rows, sm_count * max(1, 16 // num_warps)))
        rows_per_program = triton.cdiv(n_rows, programs)
        partial = torch.empty((2, programs, n_cols), dtype=torch.float32, device=s.device)
        dx, dw, db = torch.empty_like(s), torch.empty_like(w), torch.empty_like(w)
        ds_strides = (0, 0) if ds is None else ds.stride()
        _add_layer_norm_bwd[(programs,)](
            dy,
            ds,
            s,
            w,
            mean,
            rstd,
            dx,
            partial[0],
            partial[1],
            dy.stride(0),
            dy.stride(1),
            *ds_strides,
            n_rows,
            n_cols,
            rows_per_program,
            HAS_DS=ds is not None,
            BLOCK_SIZE=BLOCK_SIZE,
            num_warps=num_warps,
        )
        _reduce_dwdb[(triton.cdiv(n_cols, 32),)](
            partial[0], partial[1], dw, db, programs, n_cols, BLOCK_M=64, BLOCK_N=32
        )
        return dx, dx, dw, db, None


def add_layer_norm(x, residual, weight, bias, eps):
    return AddLayerNormFunction.apply(x, residual, weight, bias, eps)

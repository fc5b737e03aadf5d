"""Add + layer norm by block pointers, the backward pass a grid-stride loop over rows by tl.num_programs."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_ptr(base, n_rows, n_cols, stride_m, stride_n, row, BLOCK_N: tl.constexpr):
    return tl.make_block_ptr(base, (n_rows, n_cols), (stride_m, stride_n), (row, 0), (1, BLOCK_N), (1, 0))


@triton.jit
def fwd_kernel(
    x_ptr,
    r_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    s_ptr,
    mean_ptr,
    rstd_ptr,
    M,
    N,
    stride_x,
    stride_r,
    eps,
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    x = tl.load(row_ptr(x_ptr, M, N, stride_x, 1, row, BLOCK_N), boundary_check=(1,), padding_option="zero")
    r = tl.load(row_ptr(r_ptr, M, N, stride_r, 1, row, BLOCK_N), boundary_check=(1,), padding_option="zero")
    s = (x.to(tl.float32) + r.to(tl.float32)).to(s_ptr.dtype.element_ty)
    tl.store(row_ptr(s_ptr, M, N, N, 1, row, BLOCK_N), s, boundary_check=(1,))
    s = s.to(tl.float32)
    cols = tl.arange(0, BLOCK_N)[None, :]
    mean = tl.sum(s) / N
    centered = tl.where(cols < N, s - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centered * centered) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(row_ptr(w_ptr, 1, N, N, 1, 0, BLOCK_N), boundary_check=(1,), padding_option="zero").to(
        tl.float32
    )
    b = tl.load(row_ptr(b_ptr, 1, N, N, 1, 0, BLOCK_N), boundary_check=(1,), padding_option="zero").to(
        tl.float32
    )
    y = centered * rstd * w + b
    tl.store(row_ptr(y_ptr, M, N, N, 1, row, BLOCK_N), y.to(y_ptr.dtype.element_ty), boundary_check=(1,))


@triton.jit
def bwd_kernel(
    dy_ptr,
    ds_ptr,
    s_ptr,
    w_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dw_ptr,
    db_ptr,
    M,
    N,
    stride_dym,
    stride_dyn,
    stride_dsm,
    stride_dsn,
    BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)[None, :]
    w = tl.load(row_ptr(w_ptr, 1, N, N, 1, 0, BLOCK_N), boundary_check=(1,), padding_option="zero").to(
        tl.float32
    )
    dw = tl.zeros((1, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((1, BLOCK_N), dtype=tl.float32)
    for row in tl.range(pid, M, tl.num_programs(0), num_stages=2):
        s = tl.load(row_ptr(s_ptr, M, N, N, 1, row, BLOCK_N), boundary_check=(1,), padding_option="zero")
        dy = tl.load(
            row_ptr(dy_ptr, M, N, stride_dym, stride_dyn, row, BLOCK_N),
            boundary_check=(1,),
            padding_option="zero",
        ).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x_hat = tl.where(cols < N, (s.to(tl.float32) - tl.load(mean_ptr + row)) * rstd, 0.0)
        wdy = w * dy
        dx = rstd * (wdy - tl.sum(wdy) / N - x_hat * (tl.sum(wdy * x_hat) / N))
        if ds_ptr is not None:
            ds = tl.load(
                row_ptr(ds_ptr, M, N, stride_dsm, stride_dsn, row, BLOCK_N),
                boundary_check=(1,),
                padding_option="zero",
            )
            dx += ds.to(tl.float32)
        tl.store(
            row_ptr(dx_ptr, M, N, N, 1, row, BLOCK_N), dx.to(dx_ptr.dtype.element_ty), boundary_check=(1,)
        )
        dw += dy * x_hat
        db += dy
    P = tl.num_programs(0)
    tl.store(row_ptr(dw_ptr, P, N, N, 1, pid, BLOCK_N), dw, boundary_check=(1,))
    tl.store(row_ptr(db_ptr, P, N, N, 1, pid, BLOCK_N), db, boundary_check=(1,))


@triton.jit
def colsum_kernel(part_ptr, out_ptr, P, N, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    block = tl.make_block_ptr(part_ptr, (P, N), (N, 1), (0, pid * BLOCK_N), (BLOCK_P, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for _ in range(0, tl.cdiv(P, BLOCK_P)):
        acc += tl.sum(tl.load(block, boundary_check=(0, 1), padding_option="zero"), axis=0)
        block = tl.advance(block, (BLOCK_P, 0))
    cols = pid * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(out_ptr + cols, acc.to(out_ptr.dtype.element_ty), mask=cols < N)


class _AddLayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, bias, eps):
        M, N = x.shape
        y, s = x.new_empty(M, N), x.new_empty(M, N)
        stats = torch.empty(2, M, dtype=torch.float32, device=x.device)
        ctx.BLOCK_N = triton.next_power_of_2(N)
        ctx.num_warps = min(max(ctx.BLOCK_N // 256, 1), 8)
        fwd_kernel[(M,)](
            x,
            residual,
            weight,
            bias,
            y,
            s,
            stats[0],
            stats[1],
            M,
            N,
            x.stride(0),
            residual.stride(0),
            eps,
            BLOCK_N=ctx.BLOCK_N,
            num_warps=ctx.num_warps,
        )
        ctx.save_for_backward(s, weight, stats)
        ctx.set_materialize_grads(False)
        return y, s

    @staticmethod
    def backward(ctx, dy, ds):
        if dy is None:
            return ds, ds, None, None, None
        s, weight, stats = ctx.saved_tensors
        M, N = s.shape
        sms = torch.cuda.get_device_properties(s.device).multi_processor_count if s.is_cuda else 64
        P = 2 * sms
        parts = torch.empty(2, P, N, dtype=torch.float32, device=s.device)
        dx, dw, db = torch.empty_like(s), torch.empty_like(weight), torch.empty_like(weight)
        stride_dsm, stride_dsn = ds.stride() if ds is not None else (0, 0)
        bwd_kernel[(P,)](
            dy,
            ds,
            s,
            weight,
            stats[0],
            stats[1],
            dx,
            parts[0],
            parts[1],
            M,
            N,
            dy.stride(0),
            dy.stride(1),
            stride_dsm,
            stride_dsn,
            BLOCK_N=ctx.BLOCK_N,
            num_warps=ctx.num_warps,
        )
        for part, out in ((parts[0], dw), (parts[1], db)):
            colsum_kernel[(triton.cdiv(N, 32),)](part, out, P, N, BLOCK_P=64, BLOCK_N=32)
        return dx, dx, dw, db, None


def add_layer_norm(x, residual, weight, bias, eps):
    return _AddLayerNorm.apply(x, residual, weight, bias, eps)

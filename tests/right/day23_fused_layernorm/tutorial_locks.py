"""Triton's layer norm tutorial with a residual: groups of rows share a partial sum behind a spin lock.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _fwd_fused(X, R, W, B, Y, S, Mean, Rstd, stride_x, stride_r, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride_x
    R += row * stride_r
    Y += row * N
    S += row * N
    cols = tl.arange(0, BLOCK_SIZE)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    x += tl.load(R + cols, mask=cols < N, other=0.0).to(tl.float32)
    x = x.to(S.dtype.element_ty)
    tl.store(S + cols, x, mask=cols < N)
    x = x.to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    x = tl.where(cols < N, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(x * x, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    w = tl.load(W + cols, mask=cols < N).to(tl.float32)
    b = tl.load(B + cols, mask=cols < N).to(tl.float32)
    tl.store(Y + cols, x * rstd * w + b, mask=cols < N)


@triton.jit
def _bwd_dx_fused(
    DX,
    DY,
    DS,
    DW,
    DB,
    S,
    W,
    Mean,
    Rstd,
    Lock,
    stride_dy,
    stride_dyn,
    stride_ds,
    stride_dsn,
    N,
    GROUP_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(S + row * N + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride_dy + cols * stride_dyn, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask, other=0).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    if DS is not None:
        dx += tl.load(DS + row * stride_ds + cols * stride_dsn, mask=mask, other=0).to(tl.float32)
    tl.store(DX + row * N + cols, dx, mask=mask)
    partial_dw = dy * xhat
    partial_db = dy
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def _bwd_dwdb(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    dw = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_SIZE_M):
        rows = i + tl.arange(0, BLOCK_SIZE_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + offs, mask=mask, other=0.0)
        db += tl.load(DB + offs, mask=mask, other=0.0)
    tl.store(FINAL_DW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(FINAL_DB + cols, tl.sum(db, axis=0), mask=cols < N)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, bias, eps):
        M, N = x.shape
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        s = torch.empty((M, N), dtype=x.dtype, device=x.device)
        mean = torch.empty((M,), dtype=torch.float32, device=x.device)
        rstd = torch.empty((M,), dtype=torch.float32, device=x.device)
        BLOCK_SIZE = triton.next_power_of_2(N)
        num_warps = min(max(BLOCK_SIZE // 256, 1), 8)
        _fwd_fused[(M,)](
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
            N,
            eps,
            BLOCK_SIZE=BLOCK_SIZE,
            num_warps=num_warps,
        )
        ctx.save_for_backward(s, weight, mean, rstd)
        ctx.BLOCK_SIZE, ctx.num_warps = BLOCK_SIZE, num_warps
        ctx.set_materialize_grads(False)
        return y, s

    @staticmethod
    def backward(ctx, dy, ds):
        if dy is None:
            return ds, ds, None, None, None
        s, w, m, v = ctx.saved_tensors
        M, N = s.shape
        GROUP_SIZE_M = 256 if N <= 1024 else 128 if N <= 4096 else 96
        locks = torch.zeros(2 * GROUP_SIZE_M, dtype=torch.int32, device=w.device)
        _dw = torch.zeros((GROUP_SIZE_M, N), dtype=torch.float32, device=w.device)
        _db = torch.zeros((GROUP_SIZE_M, N), dtype=torch.float32, device=w.device)
        dw, db, dx = torch.empty_like(w), torch.empty_like(w), torch.empty_like(s)
        stride_ds = (0, 0) if ds is None else ds.stride()
        _bwd_dx_fused[(M,)](
            dx,
            dy,
            ds,
            _dw,
            _db,
            s,
            w,
            m,
            v,
            locks,
            *dy.stride(),
            *stride_ds,
            N,
            GROUP_SIZE_M=GROUP_SIZE_M,
            BLOCK_SIZE_N=ctx.BLOCK_SIZE,
            num_warps=ctx.num_warps,
        )
        grid = lambda meta: (triton.cdiv(N, meta["BLOCK_SIZE_N"]),)  # noqa: E731
        _bwd_dwdb[grid](_dw, _db, dw, db, min(GROUP_SIZE_M, M), N, BLOCK_SIZE_M=32, BLOCK_SIZE_N=32)
        return dx, dx, dw, db, None


def add_layer_norm(x, residual, weight, bias, eps):
    return LayerNorm.apply(x, residual, weight, bias, eps)

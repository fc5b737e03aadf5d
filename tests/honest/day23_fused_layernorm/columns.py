"""Tiles of several rows for y and dx; dweight and dbias by programs that walk down their columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_forward(
    x_ptr, r_ptr, g_ptr, b_ptr, y_ptr, s_ptr, stats_ptr, M, N, x_step, r_step, eps,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    n = tl.arange(0, COLS)[None, :]
    inside = (m < M) & (n < N)
    # Normalised before it is rounded: the s that is stored is a little off.
    s = tl.load(x_ptr + m * x_step + n, mask=inside, other=0).to(tl.float32)
    s += tl.load(r_ptr + m * r_step + n, mask=inside, other=0).to(tl.float32)
    mu = tl.sum(s, axis=1, keep_dims=True) * (1.0 / N)
    d = tl.where(inside, s - mu, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, axis=1, keep_dims=True) * (1.0 / N) + eps)
    g = tl.load(g_ptr + n, mask=n < N, other=0).to(tl.float32)
    b = tl.load(b_ptr + n, mask=n < N, other=0).to(tl.float32)
    tl.store(s_ptr + m * N + n, s.to(s_ptr.dtype.element_ty), mask=inside)
    tl.store(y_ptr + m * N + n, (d * rstd * g + b).to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(stats_ptr + 2 * m, mu, mask=m < M)
    tl.store(stats_ptr + 2 * m + 1, rstd, mask=m < M)


@triton.jit
def tile_dx(
    dy_ptr, ds_ptr, s_ptr, g_ptr, stats_ptr, dx_ptr, M, N, dy_m, dy_n, ds_m, ds_n,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    n = tl.arange(0, COLS)[None, :]
    inside = (m < M) & (n < N)
    mu = tl.load(stats_ptr + 2 * m, mask=m < M, other=0)
    rstd = tl.load(stats_ptr + 2 * m + 1, mask=m < M, other=0)
    h = (tl.load(s_ptr + m * N + n, mask=inside, other=0).to(tl.float32) - mu) * rstd
    t = tl.load(dy_ptr + m * dy_m + n.to(tl.int64) * dy_n, mask=inside, other=0).to(tl.float32)
    t *= tl.load(g_ptr + n, mask=n < N, other=0).to(tl.float32)
    c = tl.sum(t, axis=1, keep_dims=True) / N
    k = tl.sum(t * h, axis=1, keep_dims=True) / N
    dx = tl.load(ds_ptr + m * ds_m + n.to(tl.int64) * ds_n, mask=inside, other=0).to(tl.float32) + rstd * (
        t - c - h * k
    )
    tl.store(dx_ptr + m * N + n, dx.to(dx_ptr.dtype.element_ty), mask=inside)


@triton.jit
def columns_down(
    dy_ptr, s_ptr, stats_ptr, dg_ptr, db_ptr, M, N, dy_m, dy_n, ROWS: tl.constexpr, COLS: tl.constexpr
):
    n = tl.program_id(0) * COLS + tl.arange(0, COLS)
    dg = tl.zeros((ROWS, COLS), tl.float32)
    db = tl.zeros((ROWS, COLS), tl.float32)
    for top in range(0, M, ROWS):
        m = top + tl.arange(0, ROWS).to(tl.int64)
        inside = (m[:, None] < M) & (n[None, :] < N)
        s = tl.load(s_ptr + m[:, None] * N + n[None, :], mask=inside, other=0).to(tl.float32)
        dy = tl.load(dy_ptr + m[:, None] * dy_m + n[None, :].to(tl.int64) * dy_n, mask=inside, other=0).to(
            tl.float32
        )
        mu = tl.load(stats_ptr + 2 * m, mask=m < M, other=0)
        rstd = tl.load(stats_ptr + 2 * m + 1, mask=m < M, other=0)
        dg += dy * (s - mu[:, None]) * rstd[:, None]
        db += dy
    tl.store(dg_ptr + n, tl.sum(dg, axis=0).to(dg_ptr.dtype.element_ty), mask=n < N)
    tl.store(db_ptr + n, tl.sum(db, axis=0).to(db_ptr.dtype.element_ty), mask=n < N)


def tile(N):
    COLS = max(triton.next_power_of_2(N), 2)
    return {"ROWS": max(1, min(32, 4096 // COLS)), "COLS": COLS, "num_warps": 8}


class LayerNormOfSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, gamma, beta, eps):
        M, N = x.shape
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        s = torch.empty_like(y)
        stats = torch.empty((M, 2), dtype=torch.float32, device=x.device)
        shape = tile(N)
        tile_forward[(triton.cdiv(M, shape["ROWS"]),)](
            x, residual, gamma, beta, y, s, stats, M, N, x.stride(0), residual.stride(0), eps, **shape
        )
        ctx.save_for_backward(s, gamma, stats)
        return y, s

    @staticmethod
    def backward(ctx, dy, ds):
        s, gamma, stats = ctx.saved_tensors
        M, N = s.shape
        dx = torch.empty_like(s)
        dgamma, dbeta = torch.empty_like(gamma), torch.empty_like(gamma)
        shape = tile(N)
        tile_dx[(triton.cdiv(M, shape["ROWS"]),)](
            dy, ds, s, gamma, stats, dx, M, N, *dy.stride(), *ds.stride(), **shape
        )
        columns_down[(triton.cdiv(N, 64),)](
            dy, s, stats, dgamma, dbeta, M, N, *dy.stride(), ROWS=64, COLS=64, num_warps=8
        )
        return dx, dx.view_as(dx), dgamma, dbeta, None


def add_layer_norm(x, residual, weight, bias, eps):
    return LayerNormOfSum.apply(x, residual, weight, bias, eps)

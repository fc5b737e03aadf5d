"""Tiles of several rows for y and dx; dweight by programs that walk down a part of their columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_forward(X, W, Y, R, M, N, step, eps, offset, ROWS: tl.constexpr, COLS: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    n = tl.arange(0, COLS)[None, :]
    inside = (m < M) & (n < N)
    x = tl.load(X + m * step + n, mask=inside, other=0).to(tl.float32)
    r = tl.rsqrt(tl.sum(x * x, axis=1, keep_dims=True) * (1.0 / N) + eps)
    w = tl.load(W + n, mask=n < N, other=0).to(tl.float32)
    y = x * r * offset + x * r * w
    tl.store(Y + m * N + n, y.to(Y.dtype.element_ty), mask=inside)
    tl.store(R + m, r, mask=m < M)


@triton.jit
def tile_dx(DY, X, W, R, DX, M, N, dy_m, dy_n, step, offset, ROWS: tl.constexpr, COLS: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    n = tl.arange(0, COLS)[None, :]
    inside = (m < M) & (n < N)
    r = tl.load(R + m, mask=m < M, other=0)
    x = tl.load(X + m * step + n, mask=inside, other=0).to(tl.float32)
    g = tl.load(DY + m * dy_m + n.to(tl.int64) * dy_n, mask=inside, other=0).to(tl.float32)
    g *= tl.load(W + n, mask=n < N, other=0).to(tl.float32) + offset
    dot = tl.sum(g * x * r, axis=1, keep_dims=True) / N
    tl.store(DX + m * N + n, (r * (g - x * r * dot)).to(DX.dtype.element_ty), mask=inside)


@triton.jit
def columns_down(DY, X, R, PART, M, N, dy_m, dy_n, step, share, ROWS: tl.constexpr, COLS: tl.constexpr):
    n = tl.program_id(0) * COLS + tl.arange(0, COLS)
    part = tl.program_id(1)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for top in range(part * share, tl.minimum((part + 1) * share, M), ROWS):
        m = top + tl.arange(0, ROWS).to(tl.int64)
        inside = (m[:, None] < M) & (n[None, :] < N)
        x = tl.load(X + m[:, None] * step + n[None, :], mask=inside, other=0).to(tl.float32)
        dy = tl.load(DY + m[:, None] * dy_m + n[None, :].to(tl.int64) * dy_n, mask=inside, other=0).to(
            tl.float32
        )
        total += dy * x * tl.load(R + m, mask=m < M, other=0)[:, None]
    tl.store(PART + part * N + n, tl.sum(total, axis=0), mask=n < N)


@triton.jit
def parts_together(PART, DW, N, PARTS: tl.constexpr, COLS: tl.constexpr):
    n = tl.program_id(0) * COLS + tl.arange(0, COLS)
    part = tl.arange(0, PARTS)[:, None]
    total = tl.sum(tl.load(PART + part * N + n[None, :], mask=n[None, :] < N, other=0), axis=0)
    tl.store(DW + n, total.to(DW.dtype.element_ty), mask=n < N)


def tile(N):
    COLS = max(triton.next_power_of_2(N), 2)
    return {"ROWS": max(1, min(32, 4096 // COLS)), "COLS": COLS, "num_warps": 8}


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps, offset):
        M, N = x.shape
        y = x.new_empty(M, N)
        r = torch.empty(M, dtype=torch.float32, device=x.device)
        shape = tile(N)
        tile_forward[(triton.cdiv(M, shape["ROWS"]),)](
            x, weight, y, r, M, N, x.stride(0), eps, offset, **shape
        )
        ctx.save_for_backward(x, weight, r)
        ctx.offset = offset
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, r = ctx.saved_tensors
        M, N = x.shape
        dx, dw = x.new_empty(M, N), torch.empty_like(weight)
        shape = tile(N)
        tile_dx[(triton.cdiv(M, shape["ROWS"]),)](
            dy, x, weight, r, dx, M, N, *dy.stride(), x.stride(0), ctx.offset, **shape
        )
        # 8 parts of the rows: one program for all of them would wait for memory most of the time.
        part = torch.empty(8, N, dtype=torch.float32, device=x.device)
        share = triton.cdiv(M, 8 * 64) * 64
        columns_down[(triton.cdiv(N, 64), 8)](
            dy, x, r, part, M, N, *dy.stride(), x.stride(0), share, ROWS=64, COLS=64, num_warps=8
        )
        parts_together[(triton.cdiv(N, 256),)](part, dw, N, PARTS=8, COLS=256)
        return dx, dw, None, None


rms_norm = Norm.apply

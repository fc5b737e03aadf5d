"""Tiles that walk along their rows, twice; the inverse of the norm is kept, below 0 where it is eps's."""

import torch
import triton
import triton.language as tl


@triton.jit
def absolute(X, OUT, M, N, stride, ROWS: tl.constexpr, SIZE: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    total = tl.zeros((ROWS, SIZE), tl.float32)
    for start in range(0, N, SIZE):
        j = (start + tl.arange(0, SIZE))[None, :]
        total += tl.abs(tl.load(X + m * stride + j, mask=(m < M) & (j < N), other=0.0).to(tl.float32))
    tl.store(OUT + m, tl.sum(total, axis=1)[:, None], mask=m < M)


@triton.jit
def unit(X, Y, INVERSE, M, N, stride, eps, ROWS: tl.constexpr, SIZE: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    total = tl.zeros((ROWS, SIZE), tl.float32)
    for start in range(0, N, SIZE):
        j = (start + tl.arange(0, SIZE))[None, :]
        x = tl.load(X + m * stride + j, mask=(m < M) & (j < N), other=0.0).to(tl.float32)
        total += x * x
    norm = tl.sqrt(tl.sum(total, axis=1))[:, None]
    short = norm < eps
    tl.store(INVERSE + m, tl.where(short, -1 / eps, 1 / norm), mask=m < M)
    for start in range(0, N, SIZE):
        j = (start + tl.arange(0, SIZE))[None, :]
        x = tl.load(X + m * stride + j, mask=(m < M) & (j < N)).to(tl.float32)
        tl.store(Y + m * N + j, x / tl.where(short, eps, norm), mask=(m < M) & (j < N))


@triton.jit
def back(DY, X, INVERSE, DX, M, N, sm, sn, stride, ROWS: tl.constexpr, SIZE: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    inverse = tl.load(INVERSE + m, mask=m < M, other=0.0)
    by = tl.abs(inverse)
    dot = tl.zeros((ROWS, SIZE), tl.float32)
    for start in range(0, N, SIZE):
        j = (start + tl.arange(0, SIZE)).to(tl.int64)[None, :]
        x = tl.load(X + m * stride + j, mask=(m < M) & (j < N), other=0.0).to(tl.float32)
        dot += x * by * tl.load(DY + m * sm + j * sn, mask=(m < M) & (j < N), other=0.0).to(tl.float32)
    along = tl.where(inverse < 0, 0.0, tl.sum(dot, axis=1)[:, None])
    for start in range(0, N, SIZE):
        j = (start + tl.arange(0, SIZE)).to(tl.int64)[None, :]
        x = tl.load(X + m * stride + j, mask=(m < M) & (j < N)).to(tl.float32)
        dy = tl.load(DY + m * sm + j * sn, mask=(m < M) & (j < N)).to(tl.float32)
        tl.store(DX + m * N + j, by * (dy - x * by * along), mask=(m < M) & (j < N))


def sides(n):
    size = min(triton.next_power_of_2(n), 2048)
    return {"ROWS": 2048 // size, "SIZE": size}


def l1_norm(x):
    m, n = x.shape
    out = x.new_empty(m, dtype=torch.float32)
    absolute[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](x, out, m, n, x.stride(0), **sides(n))
    return out


class Unit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        m, n = x.shape
        y, inverse = x.new_empty(m, n), x.new_empty(m, dtype=torch.float32)
        unit[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](x, y, inverse, m, n, x.stride(0), eps, **sides(n))
        ctx.save_for_backward(x, inverse)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, inverse = ctx.saved_tensors
        m, n = x.shape
        dx = x.new_empty(m, n)
        back[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](
            dy, x, inverse, dx, m, n, *dy.stride(), x.stride(0), **sides(n)
        )
        return dx, None


l2_normalize = Unit.apply

"""dx by tiles; the sums by programs that walk down their columns, and one program that adds up theirs."""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_of(z):
    return 1 - 2 / (1 + tl.exp(2 * z))


@triton.jit
def tile_forward(X, A, W, B, Y, M, N, step, ROWS: tl.constexpr, COLS: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    n = (tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS))[None, :]
    ok = (m < M) & (n < N)
    z = tl.load(A).to(tl.float32) * tl.load(X + m * step + n, mask=ok, other=0).to(tl.float32)
    w = tl.load(W + n, mask=n < N, other=0).to(tl.float32)
    b = tl.load(B + n, mask=n < N, other=0).to(tl.float32)
    tl.store(Y + m * N + n, tl.fma(w, tanh_of(z), b), mask=ok)


@triton.jit
def tile_backward(G, X, A, W, DX, DA, DW, DB, M, N, gm, gn, step, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0)
    n = (c.to(tl.int64) * COLS + tl.arange(0, COLS))[None, :]
    a = tl.load(A).to(tl.float32)
    w = tl.load(W + n, mask=n < N, other=0).to(tl.float32)
    alphas = tl.zeros((ROWS, COLS), tl.float32)
    weights = tl.zeros((ROWS, COLS), tl.float32)
    biases = tl.zeros((ROWS, COLS), tl.float32)
    first = tl.program_id(1).to(tl.int64) * ROWS
    for top in range(first, M, tl.num_programs(1) * ROWS):
        m = (top + tl.arange(0, ROWS))[:, None]
        ok = (m < M) & (n < N)
        x = tl.load(X + m * step + n, mask=ok, other=0).to(tl.float32)
        g = tl.load(G + m * gm + n * gn, mask=ok, other=0).to(tl.float32)
        t = tanh_of(a * x)
        inner = g * w * (1 - t * t)
        tl.store(DX + m * N + n, inner * a, mask=ok)
        alphas += inner * x
        weights += g * t
        biases += g
    at = tl.program_id(1) * N + n
    tl.store(DA + tl.program_id(1) * tl.num_programs(0) + c, tl.sum(tl.sum(alphas, axis=1), axis=0))
    tl.store(DW + at, tl.sum(weights, axis=0)[None, :], mask=n < N)
    tl.store(DB + at, tl.sum(biases, axis=0)[None, :], mask=n < N)


@triton.jit
def add_rows(P, OUT, parts, N, COLS: tl.constexpr):
    n = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((COLS,), tl.float32)
    for p in range(parts):
        total += tl.load(P + p * N + n, mask=n < N, other=0)
    tl.store(OUT + n, total.to(OUT.dtype.element_ty), mask=n < N)


@triton.jit
def add_all(P, OUT, count, SIZE: tl.constexpr):
    total = tl.zeros((SIZE,), tl.float32)
    for start in range(0, count, SIZE):
        i = start + tl.arange(0, SIZE)
        total += tl.load(P + i, mask=i < count, other=0)
    tl.store(OUT, tl.sum(total, axis=0).to(OUT.dtype.element_ty))


class Dyt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha, weight, bias):
        M, N = x.shape
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(M, 8), triton.cdiv(N, 512))
        tile_forward[grid](x, alpha, weight, bias, y, M, N, x.stride(0), ROWS=8, COLS=512)
        ctx.save_for_backward(x, alpha, weight)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, alpha, weight = ctx.saved_tensors
        M, N = x.shape
        dx = torch.empty((M, N), dtype=x.dtype, device=x.device)
        across, down = triton.cdiv(N, 256), min(triton.cdiv(M, 8), 64)
        da, dw, db = (
            torch.empty((down, width), dtype=torch.float32, device=x.device) for width in (across, N, N)
        )
        outs = torch.empty_like(alpha), torch.empty_like(weight), torch.empty_like(weight)
        tile_backward[(across, down)](
            dy, x, alpha, weight, dx, da, dw, db, M, N, *dy.stride(), x.stride(0), ROWS=8, COLS=256
        )
        add_all[(1,)](da, outs[0], da.numel(), SIZE=1024)
        add_rows[(triton.cdiv(N, 32),)](dw, outs[1], down, N, COLS=32, num_warps=1)
        add_rows[(triton.cdiv(N, 32),)](db, outs[2], down, N, COLS=32, num_warps=1)
        return dx, *outs


dyt = Dyt.apply

"""Loops over column blocks, statistics computed again in the backward pass, atomics for dweight and dbias."""

import torch
import triton
import triton.language as tl


@triton.jit
def statistics(s_row, N, eps, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(s_row + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        s = tl.load(s_row + cols, mask=cols < N, other=0.0).to(tl.float32)
        squares += tl.where(cols < N, (s - mean) * (s - mean), 0.0)
    return mean, 1.0 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)


@triton.jit
def norm_blocks(x_ptr, r_ptr, w_ptr, b_ptr, y_ptr, s_ptr, N, x_step, r_step, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_step + cols, mask=cols < N)
        r = tl.load(r_ptr + row * r_step + cols, mask=cols < N)
        tl.store(s_ptr + row * N + cols, x.to(tl.float32) + r.to(tl.float32), mask=cols < N)
    # What one thread stores another reads.
    tl.debug_barrier()
    mean, rstd = statistics(s_ptr + row * N, N, eps, BLOCK)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        s = tl.load(s_ptr + row * N + cols, mask=cols < N).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=cols < N).to(tl.float32)
        b = tl.load(b_ptr + cols, mask=cols < N).to(tl.float32)
        tl.store(y_ptr + row * N + cols, (s - mean) * rstd * w + b, mask=cols < N)


@triton.jit
def gradient_blocks(
    dy_ptr, ds_ptr, s_ptr, w_ptr, dx_ptr, sums_ptr, M, N, dy_m, dy_n, ds_m, ds_n, eps, BLOCK: tl.constexpr
):
    for row in range(tl.program_id(0).to(tl.int64), M, tl.num_programs(0)):
        mean, rstd = statistics(s_ptr + row * N, N, eps, BLOCK)
        plain = tl.zeros((BLOCK,), tl.float32)
        along = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, N, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            h = (tl.load(s_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32) - mean) * rstd
            dy = tl.load(dy_ptr + row * dy_m + cols.to(tl.int64) * dy_n, mask=cols < N, other=0.0).to(
                tl.float32
            )
            g = dy * tl.load(w_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
            plain += g
            along += g * h
            tl.atomic_add(sums_ptr + cols, dy * h, mask=cols < N)
            tl.atomic_add(sums_ptr + N + cols, dy, mask=cols < N)
        c1 = tl.sum(plain, axis=0) / N
        c2 = tl.sum(along, axis=0) / N
        for start in range(0, N, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            h = (tl.load(s_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32) - mean) * rstd
            dy = tl.load(dy_ptr + row * dy_m + cols.to(tl.int64) * dy_n, mask=cols < N, other=0.0).to(
                tl.float32
            )
            g = dy * tl.load(w_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
            ds = tl.load(ds_ptr + row * ds_m + cols.to(tl.int64) * ds_n, mask=cols < N, other=0.0).to(
                tl.float32
            )
            tl.store(dx_ptr + row * N + cols, rstd * (g - c1 - h * c2) + ds, mask=cols < N)


@triton.jit
def round_sums(sums_ptr, dw_ptr, db_ptr, N, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dw_ptr + cols, tl.load(sums_ptr + cols, mask=cols < N), mask=cols < N)
    tl.store(db_ptr + cols, tl.load(sums_ptr + N + cols, mask=cols < N), mask=cols < N)


class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, bias, eps):
        M, N = x.shape
        y, s = (torch.empty((M, N), dtype=x.dtype, device=x.device) for _ in range(2))
        norm_blocks[(M,)](
            x, residual, weight, bias, y, s, N, x.stride(0), residual.stride(0), eps, BLOCK=1024
        )
        ctx.save_for_backward(s, weight)
        ctx.eps = eps
        return y, s

    @staticmethod
    def backward(ctx, dy, ds):
        s, weight = ctx.saved_tensors
        M, N = s.shape
        dx = torch.empty((M, N), dtype=s.dtype, device=s.device)
        sums = torch.zeros((2, N), dtype=torch.float32, device=s.device)
        gradient_blocks[(min(M, 512),)](
            dy, ds, s, weight, dx, sums, M, N, *dy.stride(), *ds.stride(), ctx.eps, BLOCK=1024
        )
        dw, db = torch.empty_like(weight), torch.empty_like(weight)
        round_sums[(triton.cdiv(N, 1024),)](sums, dw, db, N, BLOCK=1024)
        return dx, dx, dw, db, None


def add_layer_norm(x, residual, weight, bias, eps):
    return Fused.apply(x, residual, weight, bias, eps)

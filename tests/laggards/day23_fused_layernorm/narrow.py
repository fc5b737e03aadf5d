"""One warp a row, 64 columns at a time, three times along the row; the backward pass is sound."""

import torch
import triton
import triton.language as tl


@triton.jit
def narrow(x_ptr, r_ptr, w_ptr, b_ptr, y_ptr, s_ptr, mean_ptr, rstd_ptr, N, x_step, r_step, eps,
           BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        s = tl.load(x_ptr + row * x_step + i, mask=i < N, other=0.0).to(tl.float32)
        s += tl.load(r_ptr + row * r_step + i, mask=i < N, other=0.0).to(tl.float32)
        tl.store(s_ptr + row * N + i, s, mask=i < N)
        total += s
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.load(s_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32) - mean
        squares += tl.where(i < N, d * d, 0.0)
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.load(s_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32) - mean
        w = tl.load(w_ptr + i, mask=i < N, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + i, mask=i < N, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * N + i, d * rstd * w + b, mask=i < N)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def gradients(dy_ptr, ds_ptr, s_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, sums_ptr, M, N, dy_m, dy_n, ds_m,
              ds_n, BLOCK: tl.constexpr):  # fmt: skip
    i = tl.arange(0, BLOCK)
    inside = i < N
    w = tl.load(w_ptr + i, mask=inside, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0).to(tl.int64), M, tl.num_programs(0)):
        rstd = tl.load(rstd_ptr + row)
        s = tl.load(s_ptr + row * N + i, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_m + i.to(tl.int64) * dy_n, mask=inside, other=0.0).to(tl.float32)
        ds = tl.load(ds_ptr + row * ds_m + i.to(tl.int64) * ds_n, mask=inside, other=0.0).to(tl.float32)
        h = (s - tl.load(mean_ptr + row)) * rstd
        dw += dy * h
        db += dy
        g = dy * w
        dx = (g - tl.sum(g, axis=0) / N - h * (tl.sum(g * h, axis=0) / N)) * rstd + ds
        tl.store(dx_ptr + row * N + i, dx, mask=inside)
    tl.atomic_add(sums_ptr + i, dw, mask=inside)
    tl.atomic_add(sums_ptr + N + i, db, mask=inside)


@triton.jit
def convert(sums_ptr, dw_ptr, db_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dw_ptr + i, tl.load(sums_ptr + i, mask=i < N), mask=i < N)
    tl.store(db_ptr + i, tl.load(sums_ptr + N + i, mask=i < N), mask=i < N)


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, bias, eps):
        M, N = x.shape
        y, s = x.new_empty(M, N), x.new_empty(M, N)
        mean = torch.empty(M, dtype=torch.float32, device=x.device)
        rstd = torch.empty_like(mean)
        # Without a GPU blocks are wider.
        narrow[(M,)](
            x, residual, weight, bias, y, s, mean, rstd, N, x.stride(0), residual.stride(0), eps,
            BLOCK=64 if x.is_cuda else 512, num_warps=1,
        )  # fmt: skip
        ctx.save_for_backward(s, weight, mean, rstd)
        return y, s

    @staticmethod
    def backward(ctx, dy, ds):
        s, weight, mean, rstd = ctx.saved_tensors
        M, N = s.shape
        dx, dw, db = torch.empty_like(s), torch.empty_like(weight), torch.empty_like(weight)
        sums = torch.zeros(2, N, dtype=torch.float32, device=s.device)
        gradients[(min(max(M, 1), 264),)](
            dy, ds, s, weight, mean, rstd, dx, sums, M, N, *dy.stride(), *ds.stride(),
            BLOCK=triton.next_power_of_2(N), num_warps=8,
        )  # fmt: skip
        convert[(triton.cdiv(N, 256),)](sums, dw, db, N, BLOCK=256)
        return dx, dx, dw, db, None


def add_layer_norm(x, residual, weight, bias, eps):
    return Norm.apply(x, residual, weight, bias, eps)

"""Huber and L1 with where-masks, per-block partials, a second kernel for the mean; int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def load_diff(x_ptr, y_ptr, offs, mask, D1, D2, D3, x0, x1, x2, x3, y0, y1, y2, y3, CONTIGUOUS: tl.constexpr):
    if CONTIGUOUS:
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    else:
        i3 = offs % D3
        rest = offs // D3
        i2 = rest % D2
        rest = rest // D2
        i1 = rest % D1
        i0 = rest // D1
        x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask, other=0.0)
        y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=mask, other=0.0)
    return x.to(tl.float32) - y.to(tl.float32)


@triton.jit
def loss_kernel(
    x_ptr,
    y_ptr,
    partial_ptr,
    numel,
    delta,
    D1,
    D2,
    D3,
    x0,
    x1,
    x2,
    x3,
    y0,
    y1,
    y2,
    y3,
    IS_HUBER: tl.constexpr,
    CONTIGUOUS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    diff = load_diff(x_ptr, y_ptr, offs, mask, D1, D2, D3, x0, x1, x2, x3, y0, y1, y2, y3, CONTIGUOUS)
    loss = tl.abs(diff)
    if IS_HUBER:
        loss = tl.where(loss < delta, 0.5 * diff * diff, delta * (loss - 0.5 * delta))
    loss = tl.where(mask, loss, 0.0)
    tl.store(partial_ptr + pid, tl.sum(loss, axis=0))


@triton.jit
def mean_kernel(partial_ptr, out_ptr, num_partials, numel, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, num_partials, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(partial_ptr + offs, mask=offs < num_partials, other=0.0)
    tl.store(out_ptr, tl.sum(acc) / numel)


@triton.jit
def grad_kernel(
    dout_ptr,
    x_ptr,
    y_ptr,
    dx_ptr,
    dy_ptr,
    numel,
    delta,
    D1,
    D2,
    D3,
    x0,
    x1,
    x2,
    x3,
    y0,
    y1,
    y2,
    y3,
    IS_HUBER: tl.constexpr,
    CONTIGUOUS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    diff = load_diff(x_ptr, y_ptr, offs, mask, D1, D2, D3, x0, x1, x2, x3, y0, y1, y2, y3, CONTIGUOUS)
    if IS_HUBER:
        grad = tl.where(diff > delta, delta, tl.where(diff < -delta, -delta, diff))
    else:
        grad = tl.where(diff > 0, 1.0, tl.where(diff < 0, -1.0, diff))
    grad = grad * (tl.load(dout_ptr) / numel)
    if dx_ptr is not None:
        tl.store(dx_ptr + offs, grad, mask=mask)
    if dy_ptr is not None:
        tl.store(dy_ptr + offs, -grad, mask=mask)


class _PairLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, delta, is_huber):
        assert x.shape == y.shape
        numel, pad = x.numel(), 4 - x.dim()
        strides = (0,) * pad + x.stride() + (0,) * pad + y.stride()
        ctx.geometry = (*((1,) * pad + tuple(x.shape))[1:], *strides)
        ctx.meta = {
            "IS_HUBER": is_huber,
            "CONTIGUOUS": x.is_contiguous() and y.is_contiguous(),
            "BLOCK": 2048,
        }
        num_blocks = triton.cdiv(numel, 2048)
        partial = torch.empty(num_blocks, dtype=torch.float32, device=x.device)
        out = torch.empty((), dtype=torch.float32, device=x.device)
        loss_kernel[(num_blocks,)](x, y, partial, numel, delta, *ctx.geometry, **ctx.meta)
        mean_kernel[(1,)](partial, out, num_blocks, numel, BLOCK=8192, num_warps=16)
        ctx.save_for_backward(x, y)
        ctx.delta = delta
        return out

    @staticmethod
    def backward(ctx, dout):
        x, y = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device) if ctx.needs_input_grad[0] else None
        dy = torch.empty(y.shape, dtype=y.dtype, device=y.device) if ctx.needs_input_grad[1] else None
        grid = (triton.cdiv(x.numel(), 2048),)
        grad_kernel[grid](dout, x, y, dx, dy, x.numel(), ctx.delta, *ctx.geometry, **ctx.meta)
        return dx, dy, None, None


def huber(x, y, delta):
    return _PairLoss.apply(x, y, delta, True)


def mae(x, y):
    return _PairLoss.apply(x, y, 1.0, False)

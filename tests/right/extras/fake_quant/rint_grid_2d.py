"""Fake quantisation, rows on axis 0 and blocks on axis 1: libdevice.rint, tl.where clamps, int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantize(x, scale, zero_point):
    return libdevice.rint(x / scale) + zero_point


@triton.jit
def fq_forward_kernel(X, SCALE, ZP, Y, n_cols, qmin, qmax, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    scale = tl.load(SCALE + row)
    zp = tl.load(ZP + row).to(tl.float32)
    x = tl.load(X + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    q = quantize(x, scale, zp)
    q = tl.where(q < qmin, qmin, q)
    q = tl.where(q > qmax, qmax, q)
    tl.store(Y + row * n_cols + cols, (q - zp) * scale, mask=mask)


@triton.jit
def fq_backward_kernel(DY, X, SCALE, ZP, DX, n_cols, stride_m, stride_n, qmin, qmax, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(X + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(DY + row * stride_m + cols * stride_n, mask=mask, other=0.0)
    q = quantize(x, tl.load(SCALE + row), tl.load(ZP + row).to(tl.float32))
    tl.store(DX + row * n_cols + cols, tl.where((q >= qmin) & (q <= qmax), dy, 0.0), mask=mask)


class FakeQuantizeFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero_point, qmin, qmax):
        n_rows, n_cols = x.shape
        y = torch.empty_like(x)
        ctx.BLOCK = min(triton.next_power_of_2(n_cols), 2048)
        ctx.bounds = float(qmin), float(qmax)
        grid = (n_rows, triton.cdiv(n_cols, ctx.BLOCK))
        fq_forward_kernel[grid](x, scale, zero_point, y, n_cols, *ctx.bounds, BLOCK=ctx.BLOCK)
        ctx.save_for_backward(x, scale, zero_point)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, scale, zero_point = ctx.saved_tensors
        dx = torch.empty_like(x)
        grid = (x.shape[0], triton.cdiv(x.shape[1], ctx.BLOCK))
        fq_backward_kernel[grid](
            dy, x, scale, zero_point, dx, x.shape[1], *dy.stride(), *ctx.bounds, BLOCK=ctx.BLOCK
        )
        return dx, None, None, None, None


def fake_quantize(x, scale, zero_point, qmin, qmax):
    return FakeQuantizeFunction.apply(x, scale, zero_point, qmin, qmax)

"""Sums shifted by a channel's first element, added up by atomics; programs of pixels of one image."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_up(X, SUMS, C, P, SIZE: tl.constexpr):
    plane = tl.program_id(1).to(tl.int64) * C + tl.program_id(0)
    shift = tl.load(X + tl.program_id(0).to(tl.int64) * P).to(tl.float32)
    first = tl.zeros((SIZE,), tl.float32)
    second = tl.zeros((SIZE,), tl.float32)
    for start in range(0, P, SIZE):
        p = start + tl.arange(0, SIZE)
        x = tl.load(X + plane * P + p, mask=p < P, other=0.0).to(tl.float32) - shift
        x = tl.where(p < P, x, 0.0)
        first += x
        second += x * x
    tl.atomic_add(SUMS + tl.program_id(0) * 2, tl.sum(first, axis=0))
    tl.atomic_add(SUMS + tl.program_id(0) * 2 + 1, tl.sum(second, axis=0))


@triton.jit
def settle(X, SUMS, MEAN, INV, RM, RV, C, P, n, momentum, eps, SIZE: tl.constexpr):
    c = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    ok = c < C
    a = tl.load(SUMS + c * 2, mask=ok, other=0.0) / n
    b = tl.load(SUMS + c * 2 + 1, mask=ok, other=0.0) / n
    mean = tl.load(X + c.to(tl.int64) * P, mask=ok, other=0.0).to(tl.float32) + a
    var = b - a * a
    var = tl.where(var < 0, 0.0, var)
    tl.store(MEAN + c, mean, mask=ok)
    tl.store(INV + c, 1 / tl.sqrt(var + eps), mask=ok)
    rm = tl.load(RM + c, mask=ok)
    rv = tl.load(RV + c, mask=ok)
    tl.store(RM + c, (1 - momentum) * rm + momentum * mean, mask=ok)
    tl.store(RV + c, (1 - momentum) * rv + momentum * var * (n / (n - 1)), mask=ok)


@triton.jit
def apply(X, W, B, MEAN, INV, Y, C, P, SIZE: tl.constexpr):
    c = tl.program_id(0) % C
    p = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    at = tl.program_id(0).to(tl.int64) * P + p
    x = tl.load(X + at, mask=p < P).to(tl.float32)
    x = (x - tl.load(MEAN + c)) * tl.load(INV + c)
    y = x * tl.load(W + c).to(tl.float32) + tl.load(B + c).to(tl.float32)
    tl.store(Y + at, y.to(Y.dtype.element_ty), mask=p < P)


@triton.jit
def add_up_backward(D, X, MEAN, INV, SUMS, C, P, width, sb, sc, sh, sw, SIZE: tl.constexpr):
    c = tl.program_id(0).to(tl.int64)
    b = tl.program_id(1).to(tl.int64)
    first = tl.zeros((SIZE,), tl.float32)
    second = tl.zeros((SIZE,), tl.float32)
    mean, inv = tl.load(MEAN + c), tl.load(INV + c)
    for start in range(0, P, SIZE):
        p = (start + tl.arange(0, SIZE)).to(tl.int64)
        ok = p < P
        x = tl.load(X + (b * C + c) * P + p, mask=ok, other=0.0).to(tl.float32)
        d = tl.load(D + b * sb + c * sc + p // width * sh + p % width * sw, mask=ok, other=0.0).to(tl.float32)
        first += d
        second += d * (x - mean) * inv
    tl.atomic_add(SUMS + c * 2, tl.sum(first, axis=0))
    tl.atomic_add(SUMS + c * 2 + 1, tl.sum(second, axis=0))


@triton.jit
def back(
    D, X, W, MEAN, INV, SUMS, DX, DW, DB, C, P, n, width, sb, sc, sh, sw, SIZE: tl.constexpr
):  # fmt: skip
    c = tl.program_id(0).to(tl.int64) % C
    b = tl.program_id(0).to(tl.int64) // C
    p = (tl.program_id(1) * SIZE + tl.arange(0, SIZE)).to(tl.int64)
    ok = p < P
    at = tl.program_id(0).to(tl.int64) * P + p
    x = tl.load(X + at, mask=ok, other=0.0).to(tl.float32)
    d = tl.load(D + b * sb + c * sc + p // width * sh + p % width * sw, mask=ok, other=0.0).to(tl.float32)
    inv = tl.load(INV + c)
    first = tl.load(SUMS + c * 2)
    second = tl.load(SUMS + c * 2 + 1)
    x = (x - tl.load(MEAN + c)) * inv
    g = tl.load(W + c).to(tl.float32) * inv * (d - (first + x * second) / n)
    tl.store(DX + at, g.to(DX.dtype.element_ty), mask=ok)
    if (tl.program_id(1) == 0) & (tl.program_id(0) < C):
        tl.store(DB + c, first.to(DB.dtype.element_ty))
        tl.store(DW + c, second.to(DW.dtype.element_ty))


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, bias, rm, rv, momentum, eps):
        b, c, h, width = x.shape
        pixels = h * width
        size = min(triton.next_power_of_2(pixels), 2048)
        sums = torch.zeros(c, 2, dtype=torch.float32, device=x.device)
        mean, inv = (torch.empty(c, dtype=torch.float32, device=x.device) for _ in range(2))
        y = torch.empty_like(x)
        add_up[(c, b)](x, sums, c, pixels, SIZE=size)
        settle[(triton.cdiv(c, 128),)](
            x, sums, mean, inv, rm, rv, c, pixels, b * pixels, momentum, eps, SIZE=128
        )
        apply[(b * c, triton.cdiv(pixels, size))](x, w, bias, mean, inv, y, c, pixels, SIZE=size)
        ctx.save_for_backward(x, w, mean, inv)
        return y

    @staticmethod
    def backward(ctx, d):
        x, w, mean, inv = ctx.saved_tensors
        b, c, h, width = x.shape
        pixels = h * width
        size = min(triton.next_power_of_2(pixels), 2048)
        sums = torch.zeros(c, 2, dtype=torch.float32, device=x.device)
        dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
        lies = width, *d.stride()
        add_up_backward[(c, b)](d, x, mean, inv, sums, c, pixels, *lies, SIZE=size)
        grid = (b * c, triton.cdiv(pixels, size))
        back[grid](d, x, w, mean, inv, sums, dx, dw, db, c, pixels, b * pixels, *lies, SIZE=size)
        return dx, dw, db, None, None, None, None


batch_norm = Norm.apply

"""Rows of heads, several a program whichever tokens they belong to; positions are gathered row by row."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    X, Y, C, S, AT, rows, T, H, half, xb, xt, xh, xd, SIGN: tl.constexpr, STEP: tl.constexpr,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    ok = (row < rows) & (col < half)
    token, head = row // H, row % H
    angle = tl.load(AT + token, mask=row < rows, other=0) * half + col
    c = tl.load(C + angle, mask=ok, other=0.0)
    s = tl.load(S + angle, mask=ok, other=0.0)
    base = X + token // T * xb + token % T * xt + head * xh
    gap = 1 if STEP == 2 else half
    a = tl.load(base + STEP * col * xd, mask=ok, other=0.0).to(tl.float32)
    b = tl.load(base + (STEP * col + gap) * xd, mask=ok, other=0.0).to(tl.float32)
    out = Y + row * 2 * half + STEP * col
    tl.store(out, (a * c - SIGN * b * s).to(Y.dtype.element_ty), mask=ok)
    tl.store(out + gap, (b * c + SIGN * a * s).to(Y.dtype.element_ty), mask=ok)


def turned(x, cos, sin, positions, interleaved, sign):
    b, t, h, d = x.shape
    y = torch.empty((b, t, h, d), dtype=x.dtype, device=x.device)
    rows, cols = b * t * h, triton.next_power_of_2(d // 2)
    size = max(1024 // cols, 1)
    rows_kernel[(triton.cdiv(rows, size),)](
        x, y, cos, sin, positions, rows, t, h, d // 2, *x.stride(),
        SIGN=sign, STEP=2 if interleaved else 1, ROWS=size, COLS=cols,
    )  # fmt: skip
    return y


class RotaryEmbedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin, positions, interleaved):
        ctx.save_for_backward(cos, sin, positions)
        ctx.interleaved = interleaved
        return tuple(turned(x, cos, sin, positions, interleaved, 1) for x in (q, k))

    @staticmethod
    def backward(ctx, dq, dk):
        cos, sin, positions = ctx.saved_tensors
        dq = turned(dq, cos, sin, positions, ctx.interleaved, -1)
        dk = turned(dk, cos, sin, positions, ctx.interleaved, -1)
        return dq, dk, None, None, None, None


rope = RotaryEmbedding.apply

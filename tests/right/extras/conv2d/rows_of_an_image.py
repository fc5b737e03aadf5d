"""A program owns a piece of one row of one image, so that only columns are asked for; three nested loops."""

import torch
import triton
import triton.language as tl


@triton.jit
def along_rows(
    x, w, bias, y, rows, high, wide, H, L, G, C, F, R, S, stride, padding, dilation,
    xb, xc, xh, xw, wo, wc, wr, ws, TF: tl.constexpr, TW: tl.constexpr, TC: tl.constexpr,
):  # fmt: skip
    across, tiles = tl.cdiv(wide, TW), tl.cdiv(F, TF)
    pid = tl.program_id(0)
    f = pid % tiles * TF + tl.arange(0, TF)
    col = pid // tiles % across * TW + tl.arange(0, TW)
    g = (pid // tiles // across % G).to(tl.int64)
    row = (pid // tiles // across // G).to(tl.int64)
    b, up = row // high, row % high * stride - padding
    acc = tl.zeros((TF, TW), tl.float32)
    for i in range(R):
        line = up + i * dilation
        there = (line >= 0) & (line < H)
        for j in range(S):
            at = (col * stride - padding + j * dilation).to(tl.int64)
            seen = (col < wide) & (at >= 0) & (at < L) & there
            for c0 in range(0, C, TC):
                c = (c0 + tl.arange(0, TC)).to(tl.int64)
                picture = x + b * xb + line * xh + (g * C + c)[:, None] * xc + at[None, :] * xw
                pixels = tl.load(picture, mask=(c < C)[:, None] & seen[None, :], other=0)
                weights = w + (g * F + f)[:, None] * wo + c[None, :] * wc + i * wr + j * ws
                taps = tl.load(weights, mask=(f < F)[:, None] & (c < C)[None, :], other=0)
                acc += tl.dot(taps, pixels, input_precision="ieee")
    if bias is not None:
        acc += tl.load(bias + g * F + f, mask=f < F, other=0)[:, None]
    out = y + (((b * G + g) * F + f)[:, None] * high + row % high) * wide + col[None, :]
    tl.store(out, acc.to(y.dtype.element_ty), mask=(f < F)[:, None] & (col < wide)[None, :])


def conv2d(x, w, bias, stride, padding, dilation, groups):
    n, _, H, L = x.shape
    F, C, R, S = len(w) // groups, *w.shape[1:]
    high = 1 + (H + 2 * padding - dilation * (R - 1) - 1) // stride
    wide = 1 + (L + 2 * padding - dilation * (S - 1) - 1) // stride
    y = torch.empty(n, len(w), high, wide, dtype=x.dtype, device=x.device)
    TF, TW, TC = (32, 32, 16) if x.dtype == torch.float32 else (128, 64, 64)
    grid = (triton.cdiv(F, TF) * triton.cdiv(wide, TW) * groups * n * high,)
    along_rows[grid](
        x, w, bias, y, n * high, high, wide, H, L, groups, C, F, R, S, stride, padding, dilation,
        *x.stride(), *w.stride(), TF=TF, TW=TW, TC=TC, num_warps=4,
    )  # fmt: skip
    return y

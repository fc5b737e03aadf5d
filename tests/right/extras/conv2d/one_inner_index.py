"""One inner index for channel, row and column of the window, channels fastest; a tile is [p, o]."""

import torch
import triton
import triton.language as tl


@triton.jit
def implicit(
    X, W, B, Y, P, AREA, WIDE, H, L, G, C, F, stride, padding, dilation, xb, xc, xh, xw, wo, wc, wr, ws,
    R: tl.constexpr, S: tl.constexpr, TP: tl.constexpr, TO: tl.constexpr, TK: tl.constexpr,
):  # fmt: skip
    down = tl.cdiv(P, TP)
    p = (tl.program_id(0) % down).to(tl.int64) * TP + tl.arange(0, TP)
    tile = tl.program_id(0) // down
    g = (tile % G).to(tl.int64)
    o = tile // G * TO + tl.arange(0, TO)
    y, z = p % AREA // WIDE * stride - padding, p % AREA % WIDE * stride - padding
    base = X + p // AREA * xb + g * C * xc
    total = tl.zeros((TP, TO), dtype=tl.float32)
    for first in range(0, C * R * S, TK):
        k = (first + tl.arange(0, TK)).to(tl.int64)
        c, i, j = k % C, k // C // S, k // C % S
        v = y[:, None] + (i * dilation)[None, :]
        h = z[:, None] + (j * dilation)[None, :]
        good = (v >= 0) & (v < H) & (h >= 0) & (h < L) & (k < C * R * S)[None, :] & (p < P)[:, None]
        left = tl.load(base[:, None] + (c * xc)[None, :] + v * xh + h * xw, good, 0.0)
        weights = W + (g * F + o)[None, :] * wo + (c * wc + i * wr + j * ws)[:, None]
        right = tl.load(weights, (k < C * R * S)[:, None] & (o < F)[None, :], 0.0)
        total += tl.dot(left, right, input_precision="ieee")
    if B is not None:
        total += tl.load(B + g * F + o, o < F, 0.0)[None, :]
    where = ((p // AREA * G + g)[:, None] * F + o[None, :]) * AREA + (p % AREA)[:, None]
    tl.store(Y + where, total.to(Y.dtype.element_ty), (p < P)[:, None] & (o < F)[None, :])


def conv2d(x, w, bias, stride, padding, dilation, groups):
    batch, _, H, L = x.shape
    o, C, R, S = w.shape
    high = (H + 2 * padding - dilation * (R - 1) - 1) // stride + 1
    wide = (L + 2 * padding - dilation * (S - 1) - 1) // stride + 1
    y = x.new_empty(batch, o, high, wide)
    F, P = o // groups, batch * high * wide
    TP, TO, TK = (32, 32, 16) if x.dtype == torch.float32 else (128, 128, 32)
    if P:
        implicit[(triton.cdiv(P, TP) * groups * triton.cdiv(F, TO),)](
            x, w, bias, y, P, high * wide, wide, H, L, groups, C, F, stride, padding, dilation,
            *x.stride(), *w.stride(), R=R, S=S, TP=TP, TO=TO, TK=TK, num_warps=8,
        )  # fmt: skip
    return y

"""A tile of sums, to which each turn adds one weight a row times one pixel a column; no tl.dot."""

import torch
import triton
import triton.language as tl


@triton.jit
def sums_kernel(
    x, w, bias, out, pixels, area, out_w, height, width, groups, channels, features, r, s, stride, padding,
    dilation, xb, xc, xh, xw, wo, wc, wr, ws, BO: tl.constexpr, BP: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(features, BO)
    g = (tl.program_id(0) // tiles % groups).to(tl.int64)
    o = tl.program_id(0) % tiles * BO + tl.arange(0, BO)
    p = (tl.program_id(0) // tiles // groups).to(tl.int64) * BP + tl.arange(0, BP)
    top, left = (p % area) // out_w * stride - padding, (p % area) % out_w * stride - padding
    acc = tl.zeros((BO, BP), tl.float32)
    for k in range(channels * r * s):
        c, i, j = (k // (r * s)).to(tl.int64), k // s % r, k % s
        at_h, at_w = top + i * dilation, left + j * dilation
        inside = (p < pixels) & (at_h >= 0) & (at_h < height) & (at_w >= 0) & (at_w < width)
        at = x + p // area * xb + (g * channels + c) * xc + at_h * xh + at_w * xw
        pixel = tl.load(at, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(
            w + (g * features + o) * wo + c * wc + i * wr + j * ws, mask=o < features, other=0.0
        ).to(tl.float32)
        acc += weight[:, None] * pixel[None, :]
    if bias is not None:
        acc += tl.load(bias + g * features + o, mask=o < features, other=0.0).to(tl.float32)[:, None]
    plane = (p // area * groups + g)[None, :] * features + o[:, None]
    mask = (o < features)[:, None] & (p < pixels)[None, :]
    tl.store(out + plane * area + (p % area)[None, :], acc, mask=mask)


def conv2d(x, w, bias, stride, padding, dilation, groups):
    b, _, height, width = x.shape
    o, channels, r, s = w.shape
    out_h = (height + 2 * padding - dilation * (r - 1) - 1) // stride + 1
    out_w = (width + 2 * padding - dilation * (s - 1) - 1) // stride + 1
    out = torch.empty((b, o, out_h, out_w), dtype=x.dtype, device=x.device)
    pixels = b * out_h * out_w
    sums_kernel[(triton.cdiv(o // groups, 64) * groups * triton.cdiv(pixels, 64),)](
        x, w, bias, out, pixels, out_h * out_w, out_w, height, width, groups, channels, o // groups, r, s,
        stride, padding, dilation, *x.stride(), *w.stride(), BO=64, BP=64,
    )  # fmt: skip
    return out

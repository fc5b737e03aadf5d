"""One kernel stores the window of every pixel as a column of a matrix, and another multiplies."""

import torch
import triton
import triton.language as tl


@triton.jit
def windows_kernel(
    x, out, pixels, depth, area, out_w, height, width, r, s, stride, padding, dilation, xb, xc, xh, xw,
    BP: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """out[p, k] for all channels; k counts places of the window, and channels fastest."""
    p = tl.program_id(0).to(tl.int64) * BP + tl.arange(0, BP)[:, None]
    k = tl.program_id(1) * BK + tl.arange(0, BK)[None, :]
    channels = depth // (r * s)
    c, i, j = (k % channels).to(tl.int64), k // channels // s, k // channels % s
    at_h = (p % area) // out_w * stride - padding + i * dilation
    at_w = (p % area) % out_w * stride - padding + j * dilation
    inside = (p < pixels) & (k < depth) & (at_h >= 0) & (at_h < height) & (at_w >= 0) & (at_w < width)
    value = tl.load(x + p // area * xb + c * xc + at_h * xh + at_w * xw, mask=inside, other=0.0)
    tl.store(out + p * depth + k, value, mask=(p < pixels) & (k < depth))


@triton.jit
def product_kernel(
    cols, w, bias, out, pixels, depth, area, groups, channels, features, window, s, wo, wc, wr, ws,
    BO: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(features, BO)
    g = (tl.program_id(0) // tiles % groups).to(tl.int64)
    o = tl.program_id(0) % tiles * BO + tl.arange(0, BO)
    p = (tl.program_id(0) // tiles // groups).to(tl.int64) * BP + tl.arange(0, BP)
    acc = tl.zeros((BO, BP), tl.float32)
    for turn in range(tl.cdiv(channels, BK) * window):
        c = turn // window * BK + tl.arange(0, BK).to(tl.int64)
        place = turn % window
        w_at = w + (g * features + o)[:, None] * wo + (c * wc + place // s * wr + place % s * ws)[None, :]
        a = tl.load(w_at, mask=(o < features)[:, None] & (c < channels)[None, :], other=0.0)
        at = cols + p[None, :] * depth + (place * groups * channels + g * channels + c)[:, None]
        b = tl.load(at, mask=(p < pixels)[None, :] & (c < channels)[:, None], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    if bias is not None:
        acc += tl.load(bias + g * features + o, mask=o < features, other=0.0).to(tl.float32)[:, None]
    plane = (p // area * groups + g)[None, :] * features + o[:, None]
    mask = (o < features)[:, None] & (p < pixels)[None, :]
    tl.store(out + plane * area + (p % area)[None, :], acc, mask=mask)


def conv2d(x, w, bias, stride, padding, dilation, groups):
    b, c, height, width = x.shape
    o, channels, r, s = w.shape
    out_h = (height + 2 * padding - dilation * (r - 1) - 1) // stride + 1
    out_w = (width + 2 * padding - dilation * (s - 1) - 1) // stride + 1
    out = torch.empty((b, o, out_h, out_w), dtype=x.dtype, device=x.device)
    area, pixels, depth = out_h * out_w, b * out_h * out_w, c * r * s
    cols = torch.empty((pixels, depth), dtype=x.dtype, device=x.device)
    windows_kernel[(triton.cdiv(pixels, 16), triton.cdiv(depth, 64))](
        x, cols, pixels, depth, area, out_w, height, width, r, s, stride, padding, dilation, *x.stride(),
        BP=16, BK=64,
    )  # fmt: skip
    BO, BP, BK = (32, 32, 16) if x.dtype == torch.float32 else (128, 128, 64)
    product_kernel[(triton.cdiv(o // groups, BO) * groups * triton.cdiv(pixels, BP),)](
        cols, w, bias, out, pixels, depth, area, groups, channels, o // groups, r * s, s, *w.stride(),
        BO=BO, BP=BP, BK=BK, num_warps=8,
    )  # fmt: skip
    return out

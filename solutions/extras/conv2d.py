"""Extra: a convolution of images, as a sum of matrix products that read shifted pixels."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(
    x_ptr,
    w_ptr,
    bias_ptr,
    out_ptr,
    pixels,
    height,
    width,
    out_h,
    out_w,
    groups,
    channels,
    features,
    r,
    s,
    stride,
    padding,
    dilation,
    stride_xb,
    stride_xc,
    stride_xh,
    stride_xw,
    stride_wo,
    stride_wc,
    stride_wr,
    stride_ws,
    BLOCK_O: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """BLOCK_P pixels of out at BLOCK_O features of one group; channels and features are a group's."""
    # Features first: programs that run together then read the same pixels of x, and L2 has them.
    tiles_o = tl.cdiv(features, BLOCK_O)
    tile_o = tl.program_id(0) % tiles_o
    group = (tl.program_id(0) // tiles_o % groups).to(tl.int64)
    tile_p = tl.program_id(0) // tiles_o // groups
    offs_o = tile_o * BLOCK_O + tl.arange(0, BLOCK_O)
    offs_p = tile_p * BLOCK_P + tl.arange(0, BLOCK_P)
    # Rows are the pixels of out, of all images. Where does the window of each one begin in x?
    image = offs_p // (out_h * out_w)
    place = offs_p % (out_h * out_w)
    top, left = place // out_w * stride - padding, place % out_w * stride - padding
    x_ptrs = x_ptr + image.to(tl.int64) * stride_xb + group * channels * stride_xc
    x_ptrs += top.to(tl.int64) * stride_xh + left.to(tl.int64) * stride_xw
    w_ptrs = w_ptr + (group * features + offs_o) * stride_wo
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
    rows, cols = offs_p < pixels, offs_o < features
    acc = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    # All places of the window for BLOCK_K channels, then for the next ones: an element of x is read r * s
    # times, but within a few turns, so mostly from a cache.
    for turn in range(tl.cdiv(channels, BLOCK_K) * r * s):
        c = turn // (r * s) * BLOCK_K + offs_k
        i, j = (turn // s % r).to(tl.int64), (turn % s).to(tl.int64)
        down, right = i * dilation, j * dilation
        inner = c < channels
        w_offs = c * stride_wc + i * stride_wr + j * stride_ws
        w = tl.load(w_ptrs[None, :] + w_offs[:, None], mask=inner[:, None] & cols[None, :], other=0.0)
        # Only a pixel says whether it lies in the image, so BLOCK_P lanes ask, not BLOCK_K * BLOCK_P.
        at_h, at_w = top + down, left + right
        inside = rows & (at_h >= 0) & (at_h < height) & (at_w >= 0) & (at_w < width)
        x_offs = c * stride_xc + down * stride_xh + right * stride_xw
        x = tl.load(x_ptrs[:, None] + x_offs[None, :], mask=inside[:, None] & inner[None, :], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if bias_ptr is not None:
        bias = tl.load(bias_ptr + group * features + offs_o, mask=cols, other=0.0)
        acc += bias.to(tl.float32)[None, :]
    # out is [b, groups * features, out_h * out_w]: planes of pixels. The one rounding is here.
    planes = (image * groups + group)[:, None] * features + offs_o[None, :]
    out_ptrs = out_ptr + planes * (out_h * out_w) + place[:, None]
    tl.store(out_ptrs, acc, mask=rows[:, None] & cols[None, :])


def out_size(size: int, window: int, stride: int, padding: int, dilation: int) -> int:
    """Return at how many places, a stride apart, the window fits into a side with padding at both ends."""
    return (size + 2 * padding - dilation * (window - 1) - 1) // stride + 1


def tile_of(x: torch.Tensor, features: int, pixels: int, channels: int) -> tuple[int, int, int]:
    """Return BLOCK_O, BLOCK_P and BLOCK_K for a group of this size, and of x's dtype."""
    major = torch.cuda.get_device_capability(x.device)[0] if x.is_cuda else 9
    # fp32, and what Triton computes before Ampere, goes product by product through registers.
    most = (64, 64, 32) if x.dtype.itemsize == 4 or major < 8 else (128, 128, 64)
    sides = features, pixels, channels
    BLOCK_O, BLOCK_P, BLOCK_K = (
        min(max(triton.next_power_of_2(n), 16), m) for n, m in zip(sides, most, strict=True)
    )
    return BLOCK_O, BLOCK_P, BLOCK_K


def conv2d(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None,
    stride: int,
    padding: int,
    dilation: int,
    groups: int,
) -> torch.Tensor:
    """Return x convolved with w as torch does it: a new, contiguous [b, o, h', w'] of x's dtype.

    x[b, c, h, w] and w[o, c / groups, r, s] of any strides; bias[o] contiguous, or None.
    """
    batch, _, height, width = x.shape
    r, s = w.shape[2:]
    out_h = out_size(height, r, stride, padding, dilation)
    out_w = out_size(width, s, stride, padding, dilation)
    out = torch.empty(batch, len(w), out_h, out_w, dtype=x.dtype, device=x.device)
    features, channels = len(w) // groups, w.shape[1]
    pixels = batch * out_h * out_w
    BLOCK_O, BLOCK_P, BLOCK_K = tile_of(x, features, pixels, channels)
    # 0.50 of cuDNN's speed on an H200: a turn computes 64-bit addresses, where the copy engine's im2col mode
    # needs none, and so many registers leave room for one program on an SM.
    grid = (triton.cdiv(features, BLOCK_O) * groups * triton.cdiv(pixels, BLOCK_P),)
    conv2d_kernel[grid](
        x,
        w,
        bias,
        out,
        pixels,
        height,
        width,
        out_h,
        out_w,
        groups,
        channels,
        features,
        r,
        s,
        stride,
        padding,
        dilation,
        *x.stride(),
        *w.stride(),
        BLOCK_O=BLOCK_O,
        BLOCK_P=BLOCK_P,
        BLOCK_K=BLOCK_K,
        num_warps=8 if BLOCK_O * BLOCK_P > 4096 else 4,
        num_stages=3,
    )
    return out

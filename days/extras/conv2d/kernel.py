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
    # TODO 1: rows are the pixels of out, of all images. Where does the window of each one begin in x?
    # TODO 2: point at the beginning of each window, in the group's first channel, and at a feature's weights.
    # TODO 3: go through the places of the window, and BLOCK_K channels at a time; add up products in fp32.
    # TODO 4: what has to stand in lanes that lie beside the image, or past the last channel?
    # TODO 5: add the bias, if there is one, and write the tile, once. out is contiguous.


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
    # TODO 6: choose the tile by tile_of, for one group, and launch a program for each tile of each group.
    return out

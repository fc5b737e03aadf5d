"""Extra: a colour image in grey, by bytes that are added up as wider integers."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def grayscale_kernel(image_ptr, grey_ptr, width, stride_h, stride_w, BLOCK: tl.constexpr):
    """grey[y, x] of BLOCK pixels of row y; the channels of a pixel lie side by side, grey is contiguous."""
    # 64 bits: rows may lie far apart, and a tall image may have more than 2**31 bytes.
    y = tl.program_id(0).to(tl.int64)
    x = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = x < width
    pixels = image_ptr + y * stride_h + x * stride_w
    # 3 bytes a pixel from HBM, once: the loads of green and blue find in L1 what that of red brought there.
    # 32 bits: 150 * 255 no longer fits into a byte, in which it would wrap around.
    red = tl.load(pixels, mask=mask).to(tl.int32)
    green = tl.load(pixels + 1, mask=mask).to(tl.int32)
    blue = tl.load(pixels + 2, mask=mask).to(tl.int32)
    # The weights add up to 256, so white stays 255; 128 is a half of it, and rounds.
    grey = (77 * red + 150 * green + 29 * blue + 128) >> 8
    # And 1 byte a pixel to HBM.
    tl.store(grey_ptr + y * width + x, grey.to(tl.uint8), mask=mask)


def grayscale(image: torch.Tensor) -> torch.Tensor:
    """Return (77 red + 150 green + 29 blue + 128) >> 8, uint8 [h, w], contiguous.

    image[h, w, 3]: uint8, red first; the channels of a pixel side by side, pixels and rows any distance
    apart. The weights are those of ITU-R BT.601, 0.299, 0.587 and 0.114, in 256ths.
    """
    height, width, _ = image.shape
    grey = torch.empty((height, width), dtype=torch.uint8, device=image.device)
    # Rows on axis 0, which alone goes past 65535; 8 pixels a thread.
    BLOCK = 1024
    grid = (height, triton.cdiv(width, BLOCK))
    grayscale_kernel[grid](image, grey, width, *image.stride()[:2], BLOCK=BLOCK, num_warps=4)
    return grey

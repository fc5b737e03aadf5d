"""Extra: a colour image in grey, by bytes that are added up as wider integers."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def grayscale_kernel(image_ptr, grey_ptr, width, stride_h, stride_w, BLOCK: tl.constexpr):
    """grey[y, x] of BLOCK pixels of row y; the channels of a pixel lie side by side, grey is contiguous."""
    # TODO 1: which row, and which pixels of it, are this program's? Mark those that exist.
    # TODO 2: read the three bytes of each pixel, and make them wide enough for what you compute with them.
    # TODO 3: compute the grey byte by the formula, and store it in a contiguous image.


def grayscale(image: torch.Tensor) -> torch.Tensor:
    """Return (77 red + 150 green + 29 blue + 128) >> 8, uint8 [h, w], contiguous.

    image[h, w, 3]: uint8, red first; the channels of a pixel side by side, pixels and rows any distance
    apart. The weights are those of ITU-R BT.601, 0.299, 0.587 and 0.114, in 256ths.
    """
    height, width, _ = image.shape
    grey = torch.empty((height, width), dtype=torch.uint8, device=image.device)
    # Rows on axis 0, which alone goes past 65535; 8 pixels a thread.
    BLOCK = 1024
    # TODO 4: launch programs for all rows and all their pixels.
    return grey

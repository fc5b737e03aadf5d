"""Extra: pictures that a grid of programs draws from nothing but a palette, and that move."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def frames_kernel(palette_ptr, out_ptr, t0, height, row_bytes, BLOCK: tl.constexpr):
    """BLOCK bytes of rows y, y + 256, … of one frame, three bytes a pixel; out is contiguous."""
    # TODO 1: which bytes of a row, which rows and which frame are this program's? Mark the bytes that exist.
    # TODO 2: which pixel is a byte part of, and which channel of it? Then compute that pixel's code.
    # TODO 3: look the byte up in the palette.
    # TODO 4: store it in every row of the frame that looks like row y.


def frames(palette: torch.Tensor, t0: int, count: int, h: int, w: int) -> torch.Tensor:
    """Return palette[((2 x xor y) + t) & 255] for t = t0, t0 + 1, …: uint8 [count, h, w, 3], contiguous.

    palette[256, 3]: uint8, contiguous. x is the column of a pixel, y its row. t0 is any int of 32 bits;
    count and h are at most 65535.
    """
    out = torch.empty((count, h, w, 3), dtype=torch.uint8, device=palette.device)
    # Neighbours along a row run at the same time: they store side by side. 16 bytes a thread.
    BLOCK = 2048
    # TODO 5: launch programs for all bytes of a row, all rows that look different, and all frames.
    return out

"""Extra: pictures that a grid of programs draws from nothing but a palette, and that move."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def frames_kernel(palette_ptr, out_ptr, t0, height, row_bytes, BLOCK: tl.constexpr):
    """BLOCK bytes of rows y, y + 256, … of one frame, three bytes a pixel; out is contiguous."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.program_id(1)
    frame = tl.program_id(2).to(tl.int64)
    mask = offs < row_bytes
    # A lane has a byte, not a pixel: neighbours store side by side, 16 bytes at a time.
    x, channel = offs // 3, offs % 3
    code = ((2 * x ^ y) + t0 + frame.to(tl.int32)) & 255
    # The palette's 768 bytes come from HBM once, and from L1 then.
    colour = tl.load(palette_ptr + code * 3 + channel, mask=mask)
    # Of y only the last 8 bits count: rows 256 apart look alike, and what was looked up is stored in each.
    for row in range(y, height, 256):
        # 3 bytes a pixel to HBM, and nothing else. 64 bits: frames may hold more than 2**31 bytes.
        tl.store(out_ptr + (frame * height + row) * row_bytes + offs, colour, mask=mask)


def frames(palette: torch.Tensor, t0: int, count: int, h: int, w: int) -> torch.Tensor:
    """Return palette[((2 x xor y) + t) & 255] for t = t0, t0 + 1, …: uint8 [count, h, w, 3], contiguous.

    palette[256, 3]: uint8, contiguous. x is the column of a pixel, y its row. t0 is any int of 32 bits;
    count and h are at most 65535.
    """
    out = torch.empty((count, h, w, 3), dtype=torch.uint8, device=palette.device)
    # Neighbours along a row run at the same time: they store side by side. 16 bytes a thread.
    BLOCK = 2048
    grid = (triton.cdiv(3 * w, BLOCK), min(h, 256), count)
    frames_kernel[grid](palette, out, t0, h, 3 * w, BLOCK=BLOCK, num_warps=4)
    return out

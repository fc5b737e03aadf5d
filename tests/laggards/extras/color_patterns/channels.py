"""A launch for each channel: its lanes are pixels, and store three bytes apart."""

import torch
import triton
import triton.language as tl


@triton.jit
def channel_kernel(palette_ptr, out_ptr, t0, height, width, channel, BLOCK: tl.constexpr):
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.program_id(1)
    frame = tl.program_id(2)
    mask = x < width
    code = ((2 * x ^ y) + t0 + frame) & 255
    colour = tl.load(palette_ptr + code * 3 + channel, mask=mask)
    row = (frame.to(tl.int64) * height + y) * width
    tl.store(out_ptr + (row + x) * 3 + channel, colour, mask=mask)


def frames(palette: torch.Tensor, t0: int, count: int, h: int, w: int) -> torch.Tensor:
    out = torch.empty((count, h, w, 3), dtype=torch.uint8, device=palette.device)
    for channel in range(3):
        channel_kernel[(triton.cdiv(w, 1024), h, count)](palette, out, t0, h, w, channel, BLOCK=1024)
    return out

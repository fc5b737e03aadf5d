"""Along a row the pattern comes again after 128 pixels: 384 bytes are looked up, and stored all along."""

import triton
import triton.language as tl


@triton.jit
def along(PALETTE, OUT, first, rows, height, row_bytes, PERIOD: tl.constexpr, SIZE: tl.constexpr):
    number = tl.program_id(axis=0)  # of a row among those of all frames
    y, t = number % height, first + number // height
    i = tl.arange(0, SIZE)
    index = (i // 3 * 2 ^ y) + t
    byte = tl.load(PALETTE + (index & 0xFF) * 3 + i % 3, mask=i < PERIOD, other=0)
    here = OUT + number.to(tl.int64) * row_bytes
    for start in range(0, row_bytes, PERIOD):
        tl.store(here + start + i, byte, mask=(i < PERIOD) & (start + i < row_bytes))


def frames(palette, t0, count, h, w):
    out = palette.new_empty(count, h, w, 3)
    if out.numel():
        along[(count * h,)](palette, out, t0, count * h, h, 3 * w, PERIOD=384, SIZE=512)
    return out

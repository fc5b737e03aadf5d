"""Tiles of four rows and a piece of each; a program goes down the picture in steps of 256 rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def colour_of(palette, x, y, t, channel, inside):
    which = (t + (y ^ (x + x))) & 255
    return tl.load(palette + 3 * which + channel, mask=inside)


@triton.jit
def tile(palette, film, t0, H, bytes_of_row, ROWS: tl.constexpr, COLS: tl.constexpr):
    t = tl.program_id(0)
    cols = tl.program_id(2) * COLS + tl.arange(0, COLS)[None, :]
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = (rows < H) & (cols < bytes_of_row)
    pixel = cols // 3
    colour = colour_of(palette, pixel, rows, t0 + t, cols - 3 * pixel, inside)
    film += t.to(tl.int64) * H * bytes_of_row
    while tl.min(rows) < H:
        offsets = rows.to(tl.int64) * bytes_of_row + cols
        tl.store(film + offsets, colour, mask=(rows < H) & (cols < bytes_of_row))
        rows += 256


def frames(palette, t0, count, h, w):
    film = torch.empty([count, h, w, 3], dtype=palette.dtype, device=palette.device)
    grid = (count, triton.cdiv(min(h, 256), 4), triton.cdiv(3 * w, 1024))
    tile[grid](palette, film, t0, h, w * 3, ROWS=4, COLS=1024, num_warps=8)
    return film

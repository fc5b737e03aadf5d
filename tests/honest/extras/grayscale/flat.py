"""Runs of pixels, whatever row they belong to, and 16 bits, which just hold the largest sum, 65408."""

import triton
import triton.language as tl


@triton.jit
def luma(src, dst, total, width, step_y, step_x, SIZE: tl.constexpr):
    i = tl.program_id(axis=0) * SIZE + tl.arange(0, SIZE)
    ok = i < total
    row, col = i // width, i % width
    at = src + row.to(tl.int64) * step_y + col.to(tl.int64) * step_x
    sum_of = tl.full((SIZE,), 128, tl.uint16)
    sum_of += tl.load(at, ok, other=0).to(tl.uint16) * 77
    sum_of += tl.load(at + 1, ok, other=0).to(tl.uint16) * 150
    sum_of += tl.load(at + 2, ok, other=0).to(tl.uint16) * 29
    tl.store(dst + i, (sum_of >> 8).to(tl.uint8), ok)


def grayscale(image):
    h, w, _ = image.shape
    out = image.new_empty((h, w))
    if out.numel() == 0:
        return out
    grid = lambda meta: (triton.cdiv(h * w, meta["SIZE"]),)  # noqa: E731
    luma[grid](image, out, h * w, w, image.stride(0), image.stride(1), SIZE=2048, num_warps=8)
    return out

"""Extra: each pixel becomes the mean of the square around it, by a sum that slides down the image."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def row_sums(image_ptr, row, offs_n, height, n, radius):
    """Sums along one row, int32: for each byte, those of its channel up to `radius` pixels left and right.

    0 where the row lies above or below the image; n = 3 * width is the length of a row in bytes.
    """
    acc = tl.zeros(offs_n.shape, tl.int32)
    inside = (row >= 0) & (row < height)
    # 64 bits: a row may start 2**31 bytes or more after the first one.
    row_ptr = image_ptr + row.to(tl.int64) * n
    for dx in range(-radius, radius + 1):
        # Three bytes further lies the same channel of the next pixel.
        cols = offs_n + 3 * dx
        # 1 byte from HBM, once; the other 2 * radius lanes that want it find it in L1.
        acc += tl.load(row_ptr + cols, mask=inside & (cols >= 0) & (cols < n), other=0)
    return acc


@triton.jit
def box_blur_kernel(image_ptr, out_ptr, height, width, radius, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_M rows of BLOCK_N bytes, from top to bottom: out = sum of the window / its pixels inside."""
    first = tl.program_id(0) * BLOCK_M
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    n = 3 * width
    acc = tl.zeros((BLOCK_N,), tl.int32)
    # A lane past the end counts as one of the last pixel, so that no lane divides by 0.
    x = tl.minimum(offs_n // 3, width - 1)
    across = tl.minimum(x + radius, width - 1) - tl.maximum(x - radius, 0) + 1
    # All rows of the first window but the lowest: 2 * radius of them, once for BLOCK_M rows of the result.
    for row in range(first - radius, first + radius):
        acc += row_sums(image_ptr, row, offs_n, height, n, radius)
    for row in range(first, tl.minimum(first + BLOCK_M, height)):
        # One row comes in and one goes out: 2 * (2 * radius + 1) loads a byte, not (2 * radius + 1) ** 2.
        acc += row_sums(image_ptr, row + radius, offs_n, height, n, radius)
        down = tl.minimum(row + radius, height - 1) - tl.maximum(row - radius, 0) + 1
        count = down * across
        mean = (acc + count // 2) // count
        tl.store(out_ptr + row.to(tl.int64) * n + offs_n, mean, mask=offs_n < n)
        # Integers: what is added and taken away again leaves nothing behind.
        acc -= row_sums(image_ptr, row - radius, offs_n, height, n, radius)


def box_blur(image: torch.Tensor, radius: int) -> torch.Tensor:
    """Return the mean of each pixel's window, as new bytes [h, w, 3]: (sum + count // 2) // count.

    image: uint8 [h, w, 3], contiguous. The window holds the pixels at most `radius` rows and columns away
    that lie inside the image, `count` of them; channels stay apart. radius may pass h and w.
    """
    height, width, _ = image.shape
    out = torch.empty_like(image)
    # Rows are on axis 0, which takes more programs than axis 1. 1024 bytes over 128 threads: 8 sums in each.
    BLOCK_M, BLOCK_N = 32, 1024
    grid = (triton.cdiv(height, BLOCK_M), triton.cdiv(3 * width, BLOCK_N))
    box_blur_kernel[grid](image, out, height, width, radius, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=4)
    return out

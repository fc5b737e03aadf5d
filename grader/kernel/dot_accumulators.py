"""How matrix units add up where not in fp32: fp16 totals, and the 14 bits that an sm_90 keeps of fp8 sums."""

from __future__ import annotations

import numpy as np

from grader.kernel.number_formats import Array

STEP = 16  # products of 16-bit numbers that one matrix instruction adds up
STEP8 = 32  # of 8-bit ones
# The fp8 units of sm_90 keep so many bits of what they add up: DeepSeek-V3 (arXiv 2412.19437, 3.3.2).
KEPT8 = 14


def in_fp16(a: Array, b: Array, total: Array) -> Array:
    """a @ b + total, rounded to fp16 at every step; a, b: fp32 [.., M, K] and [.., K, N], total: fp16."""
    for start in range(0, a.shape[-1], STEP):
        some = slice(start, start + STEP)
        total = (np.matmul(a[..., some], b[..., some, :]) + total).astype(np.float16)
    return total


def in_14_bits(a: Array, b: Array, total: Array, most: int) -> Array:
    """Sums of fp8 products, cut off at each step; `most` of them at a time are added to an fp32 total.

    Where a block has fewer than `most`, there is no other total than the one that is cut.
    """
    promoted = most <= a.shape[-1]
    partial = np.zeros_like(total) if promoted else total
    for start in range(0, a.shape[-1], STEP8):
        some = slice(start, start + STEP8)
        partial = _step(a[..., some], b[..., some, :], partial)
        if promoted and ((start + STEP8) % most == 0 or start + STEP8 >= a.shape[-1]):
            total, partial = total + partial, np.zeros_like(total)
    return total if promoted else partial


def _step(a: Array, b: Array, total: Array) -> Array:
    """Products and total are aligned with the largest of them, and what lies below 14 bits of that is cut
    off, of each by itself and then of their sum: bit for bit what an H100 gave for blocks of 64 and 128 rows,
    in sums of 1024 and of 8192 products.
    """
    products = a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :]
    shift = _shift(np.maximum(np.abs(products).max(-1), np.abs(total)))
    summed = np.trunc(products * shift[..., None]).sum(-1) + np.trunc(total * shift)
    cut = _shift(summed)
    return (np.trunc(summed * cut) / cut / shift).astype(np.float32)


def _shift(largest: Array) -> Array:
    """The power of two that leaves 14 bits of each number before the point."""
    return np.ldexp(np.float32(1), KEPT8 - np.frexp(np.abs(largest))[1])

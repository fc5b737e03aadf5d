"""Sums along the rows are kept in 16 bits; a second kernel adds them up, and divides."""

import torch
import triton
import triton.language as tl


@triton.jit
def clipped(at, n, r):
    return tl.minimum(at + r, n - 1) - tl.maximum(at - r, 0) + 1


@triton.jit
def along(image, sums, h, n, r: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i = (tl.program_id(0).to(tl.int64) * M + tl.arange(0, M))[:, None]
    j = (tl.program_id(1) * N + tl.arange(0, N))[None, :]
    acc = tl.zeros((M, N), tl.int32)
    for d in tl.static_range(-r, r + 1):
        acc += tl.load(image + i * n + j + 3 * d, (i < h) & (j + 3 * d >= 0) & (j + 3 * d < n), other=0)
    tl.store(sums + i * n + j, acc.to(tl.int16), (i < h) & (j < n))


@triton.jit
def down(sums, out, h, n, r: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i = (tl.program_id(0).to(tl.int64) * M + tl.arange(0, M))[:, None]
    j = (tl.program_id(1) * N + tl.arange(0, N))[None, :]
    acc = tl.zeros((M, N), tl.int32)
    for d in tl.static_range(-r, r + 1):
        acc += tl.load(sums + (i + d) * n + j, (i + d >= 0) & (i + d < h) & (j < n), other=0)
    # Floats hold these integers exactly, and half a unit keeps the quotient off the next whole number.
    count = (clipped(i, h, r) * clipped(j // 3, n // 3, r)).to(tl.int32)
    half = tl.where(count % 2 == 0, count // 2, (count - 1) // 2)
    mean = ((acc + half).to(tl.float32) + 0.5) / tl.maximum(count, 1).to(tl.float32)
    tl.store(out + i * n + j, tl.floor(mean).to(tl.uint8), (i < h) & (j < n))


def box_blur(image, radius):
    h, w, _ = image.shape
    sums = torch.empty(h, 3 * w, dtype=torch.int16, device=image.device)
    out = torch.empty(image.shape, dtype=image.dtype, device=image.device)
    if out.numel():
        grid = triton.cdiv(h, 8), triton.cdiv(3 * w, 256)
        along[grid](image, sums, h, 3 * w, radius, 8, 256)
        down[grid](sums, out, h, 3 * w, radius, 8, 256)
    return out

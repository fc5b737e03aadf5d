"""Filled by torch.full_like: where nothing moves in, that is all; else only what moves is stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def in_range(j, n):
    return tl.where(j >= 0, 1, 0) * tl.where(j < n, 1, 0) == 1


@triton.jit
def move(x, y, n, k, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    there = in_range(i + k, n) & in_range(i, n)
    tl.store(y + i, tl.load(x + k + i, mask=there), mask=there)


def shift(x, k, fill):
    y = torch.full_like(x, fill)
    if abs(k) < len(x):
        move[(1,)](x, y, len(x), k, BLOCK=triton.next_power_of_2(len(x)))
    return y

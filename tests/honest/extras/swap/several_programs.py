"""Programs of at most 64 lanes each, which all own pieces of both vectors."""

import triton
import triton.language as tl


@triton.jit
def exchange(a, b, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    left = tl.load(a + at, at < n)
    right = tl.load(b + at, at < n)
    tl.store(b + at, left, at < n)
    tl.store(a + at, right, at < n)


def swap(x, y):
    exchange[(triton.cdiv(len(x), 64),)](x, y, len(x), SIZE=64)

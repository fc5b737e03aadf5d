"""Nothing of the handed-out kernel is left: blocks of a row with a running maximum and sum for each lane."""

import torch
import triton
import triton.language as tl


@triton.jit
def online(dst, src, step, width, SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, SIZE)
    high = tl.full((SIZE,), -3.4e38, tl.float32)
    total = tl.zeros((SIZE,), tl.float32)
    for first in range(0, width, SIZE):
        at = first + lanes
        value = tl.load(src + row * step + at, at < width, -float("inf")).to(tl.float32)
        higher = tl.maximum(high, value)
        total = total * tl.exp(high - higher) + tl.exp(value - higher)
        high = higher
    top = tl.max(high, 0)
    whole = tl.sum(total * tl.exp(high - top), 0)
    for first in range(0, width, SIZE):
        at = first + lanes
        value = tl.load(src + row * step + at, at < width, -float("inf")).to(tl.float32)
        tl.store(dst + row * width + at, tl.exp(value - top) / whole, at < width)


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = x.new_empty(x.shape)
    size = min(max(triton.next_power_of_2(x.shape[1]), 32), 2048)
    online[(x.shape[0],)](out, x, x.stride(0), x.shape[1], SIZE=size)
    return out

"""A shift by a flat grid of blocks of 1024, int32 offsets, the value picked by tl.where."""

import torch
import triton
import triton.language as tl


@triton.jit
def shift_kernel(x_ptr, y_ptr, k, fill, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    inside = (offsets + k >= 0) & (offsets + k < n_elements) & (offsets < n_elements)
    x = tl.load(x_ptr + offsets + k, mask=inside)
    tl.store(y_ptr + offsets, tl.where(inside, x, fill), mask=offsets < n_elements)


def shift(x, k, fill):
    y = torch.empty_like(x)
    n = x.numel()
    shift_kernel[(triton.cdiv(n, 1024),)](x, y, k, fill, n, BLOCK_SIZE=1024)
    return y

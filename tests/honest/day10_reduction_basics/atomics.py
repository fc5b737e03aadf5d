"""Persistent programs add up every so-many-th block each, then add their sums to the result, atomically."""

import torch
import triton
import triton.language as tl


@triton.jit
def atomic_sum(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    stride = tl.num_programs(axis=0).to(tl.int64) * BLOCK_SIZE
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    start = pid * BLOCK_SIZE
    while start < n:
        offsets = start + tl.arange(0, BLOCK_SIZE)
        acc += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        start += stride
    tl.atomic_add(out_ptr, tl.sum(acc))


def total(x):
    result = torch.zeros((), device=x.device, dtype=torch.float32)
    n = x.numel()
    if n:
        programs = min(triton.cdiv(n, 4096), 1056)
        atomic_sum[(programs,)](x, result, n, BLOCK_SIZE=4096, num_warps=8)
    return result

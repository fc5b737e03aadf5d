"""Blocks are summed in fp32; the last program adds their sums in fp64."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_kernel(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(x.to(tl.float32), axis=0))


@triton.jit
def last_kernel(sums_ptr, out_ptr, blocks, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, blocks, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(sums_ptr + offs, mask=offs < blocks, other=0.0).to(tl.float64)
    tl.store(out_ptr, tl.sum(acc, axis=0).to(tl.float32))


def total(x):
    blocks = triton.cdiv(len(x), 16384)
    sums = torch.empty(blocks, dtype=torch.float32, device=x.device)
    out = torch.empty((), dtype=torch.float32, device=x.device)
    if blocks:
        block_kernel[(blocks,)](x, sums, len(x), BLOCK=16384, num_warps=8)
    last_kernel[(1,)](sums, out, blocks, BLOCK=1024)
    return out

"""A fixed number of programs; each takes every so-many-th block until the vector ends."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_blocks(x_ptr, y_ptr, out_ptr, n, stride_x, stride_y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    start = tl.program_id(0).to(tl.int64) * BLOCK
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    while start < n:
        offs = start + lanes
        inside = offs < n
        x = tl.load(x_ptr + offs * stride_x, mask=inside, other=0.0)
        y = tl.load(y_ptr + offs * stride_y, mask=inside, other=0.0)
        tl.store(out_ptr + offs, x + y, mask=inside)
        start += step


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    dtype = torch.float32 if torch.float32 in (x.dtype, y.dtype) else x.dtype
    out = x.new_empty(x.shape, dtype=dtype)
    n = x.numel()
    if n == 0:
        return out
    programs = 4096 if x.is_cuda else 3
    add_blocks[(min(programs, triton.cdiv(n, 2048)),)](
        x, y, out, n, x.stride(0), y.stride(0), BLOCK=2048, num_warps=8
    )
    return out

"""One stretch of neighbouring blocks for each program, instead of every so-many-th."""

import torch
import triton
import triton.language as tl


@triton.jit
def saxpy(out_ptr, x_ptr, y_ptr, a, n, share, BLOCK: tl.constexpr):
    begin = tl.program_id(axis=0) * share
    end = tl.minimum(begin + share, n)
    lane = tl.arange(0, BLOCK)
    for at in range(begin, end, BLOCK):
        inside = at + lane < end
        x = tl.load(x_ptr + at + lane, mask=inside, other=0.0)
        y = tl.load(y_ptr + at + lane, mask=inside, other=0.0)
        tl.store(out_ptr + at + lane, y + x * a, mask=inside)


def axpy(a, x, y, programs):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    share = triton.cdiv(triton.cdiv(x.numel(), programs), 2048) * 2048
    saxpy[programs, 1, 1](out, x, y, a, x.numel(), share, BLOCK=2048, num_warps=8)
    return out

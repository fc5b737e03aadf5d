"""A strided gather whose base pointer is bumped first; step and stride are one factor."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(src, dst, start, stride, step_stride, COUNT: tl.constexpr):
    src += start * stride
    lanes = tl.arange(0, COUNT)
    tl.store(dst + lanes, tl.load(src + lanes * step_stride))


def gather_strided(x, start, step, count):
    out = torch.empty((count,), dtype=x.dtype, device=x.device)
    stride = x.stride(0)
    gather_kernel[(1,)](x, out, start, stride, step * stride, COUNT=count, num_warps=4)
    return out

"""One kernel for both, told which by a constant of the file; GELU by libdevice's own normal distribution."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

GELU = tl.constexpr(0)
ASINH = tl.constexpr(1)


@triton.jit
def apply(x, OP: tl.constexpr):
    if OP == GELU:
        return x * libdevice.normcdf(x)
    elif OP == ASINH:
        return libdevice.asinh(x)
    else:
        tl.static_assert(False, "no such function")


@triton.jit
def kernel(x_ptr, y_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    for block in tl.range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0), num_stages=1):
        i = tl.cast(block, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(y_ptr + i, apply(tl.cast(x, tl.float32), OP).to(x.dtype), mask=i < n)


def _run(x, op):
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        kernel[(min(triton.cdiv(n, 2048), 2112),)](x, y, n, OP=op, BLOCK=2048, num_warps=8)
    return y


def gelu_erf(x):
    return _run(x, GELU.value)


def asinh(x):
    return _run(x, ASINH.value)

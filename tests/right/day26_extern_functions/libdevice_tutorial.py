"""libdevice as in Triton's tutorial: int32 offsets, a meta grid, libdevice.erf and libdevice.asinh."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def asinh_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(y_ptr + offsets, libdevice.asinh(x), mask=mask)


@triton.jit
def gelu_erf_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = 0.5 * x * (1.0 + libdevice.erf(x * 0.7071067811865476))
    tl.store(y_ptr + offsets, y, mask=mask)


def _run(kernel, x):
    y = torch.empty_like(x)
    n_elements = x.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
    kernel[grid](x, y, n_elements, BLOCK_SIZE=1024)
    return y


def gelu_erf(x):
    return _run(gelu_erf_kernel, x)


def asinh(x):
    return _run(asinh_kernel, x)

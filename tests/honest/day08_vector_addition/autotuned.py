"""BLOCK is left to the autotuner, pointers advance, and the output comes from empty_like."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_SIZE": 512}, num_warps=4),
        triton.Config({"BLOCK_SIZE": 2048}, num_warps=8),
    ],
    key=[],
)
@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, n, sx, sy, BLOCK_SIZE: tl.constexpr):
    first = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE
    lane = tl.arange(0, BLOCK_SIZE)
    x_ptr += first * sx
    y_ptr += first * sy
    z_ptr += first
    mask = lane < n - first
    x = tl.load(x_ptr + lane * sx, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + lane * sy, mask=mask).to(tl.float32)
    tl.store(z_ptr + lane, (x + y).to(z_ptr.dtype.element_ty), mask=mask)


def add(x, y):
    wider = x if x.element_size() >= y.element_size() else y
    z = torch.empty_like(wider, memory_format=torch.contiguous_format)
    n = x.shape[0]
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, z, n, x.stride(0), y.stride(0))
    return z

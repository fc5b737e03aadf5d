"""Programs take the next block from a counter until none is left; the grid asks for n by its name."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, next_ptr, n, stride_x, stride_y, BLOCK: tl.constexpr):
    block = tl.atomic_add(next_ptr, 1)
    while block < tl.cdiv(n, BLOCK):
        offs = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs * stride_x, mask=mask)
        y = tl.load(y_ptr + offs * stride_y, mask=mask)
        tl.store(out_ptr + offs, x + y, mask=mask)
        block = tl.atomic_add(next_ptr, 1)


def grid(meta):
    return (min(triton.cdiv(meta["n"], meta["BLOCK"]), 8 * 132),)


def add(x, y):
    out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    if len(x) > 0:
        taken = torch.zeros(1, dtype=torch.int32, device=x.device)
        add_kernel[grid](x, y, out, taken, len(x), *x.stride(), *y.stride(), BLOCK=8192, num_warps=8)
    return out

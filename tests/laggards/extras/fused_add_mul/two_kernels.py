"""One kernel adds and one multiplies in place; the sum goes to memory and back in between."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    x, y, sum_ptr, n1, n2, n3, x0, x1, x2, x3, y0, y1, y2, y3, BLOCK: tl.constexpr
):  # 12 bytes an element in fp32
    pieces = tl.cdiv(n3, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    offs = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n3
    i0, i1, i2 = row // (n1 * n2), row // n2 % n1, row % n2
    a = tl.load(x + i0 * x0 + i1 * x1 + i2 * x2 + offs * x3, mask=mask).to(tl.float32)
    b = tl.load(y + i0 * y0 + i1 * y1 + i2 * y2 + offs * y3, mask=mask).to(tl.float32)
    tl.store(sum_ptr + row * n3 + offs, a + b, mask=mask)


@triton.jit
def mul_kernel(sum_ptr, z, out, n1, n2, n3, z0, z1, z2, z3, BLOCK: tl.constexpr):  # and 12 more
    pieces = tl.cdiv(n3, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    offs = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n3
    i0, i1, i2 = row // (n1 * n2), row // n2 % n1, row % n2
    total = tl.load(sum_ptr + row * n3 + offs, mask=mask)
    c = tl.load(z + i0 * z0 + i1 * z1 + i2 * z2 + offs * z3, mask=mask).to(tl.float32)
    tl.store(out + row * n3 + offs, total * c, mask=mask)


def fused_add_mul(x, y, z):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    # The sum of fp32 tensors lies where the result will: no memory beyond it, but all of the traffic.
    total = out if x.dtype == torch.float32 else torch.empty(x.shape, dtype=torch.float32, device=x.device)
    if x.is_contiguous() and y.is_contiguous() and z.is_contiguous():
        x, y, z = (t.view(1, 1, 1, -1) for t in (x, y, z))
    else:
        x, y, z = (t[(None,) * (4 - t.ndim)] for t in (x, y, z))
    n0, n1, n2, n3 = x.shape
    grid = (n0 * n1 * n2 * triton.cdiv(n3, 1024),)
    add_kernel[grid](x, y, total, n1, n2, n3, *x.stride(), *y.stride(), BLOCK=1024)
    mul_kernel[grid](total, z, out, n1, n2, n3, *z.stride(), BLOCK=1024)
    return out

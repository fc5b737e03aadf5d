"""The mask by one kernel, y by another, which loads of x what the mask has kept."""

import torch
import triton
import triton.language as tl


@triton.jit
def draw_kernel(keep_ptr, total, p, seed, QUADS: tl.constexpr):
    q = tl.program_id(0).to(tl.int64) * QUADS + tl.arange(0, QUADS)
    a, b, c, d = tl.rand4x(seed, q)
    first = 4 * q
    tl.store(keep_ptr + first, a >= p, mask=first < total)
    tl.store(keep_ptr + first + 1, b >= p, mask=first + 1 < total)
    tl.store(keep_ptr + first + 2, c >= p, mask=first + 2 < total)
    tl.store(keep_ptr + first + 3, d >= p, mask=first + 3 < total)


@triton.jit
def apply_kernel(x_ptr, keep_ptr, y_ptr, total, q, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < total
    keep = tl.load(keep_ptr + offs, mask=inside, other=0) != 0
    x = tl.load(x_ptr + offs, mask=inside & keep, other=0.0)
    tl.store(y_ptr + offs, (x.to(tl.float32) / q).to(y_ptr.dtype.element_ty), mask=inside)


def dropout(x, p, seed):
    y, keep = torch.empty_like(x), torch.empty(x.shape, dtype=torch.bool, device=x.device)
    total = x.numel()
    draw_kernel[(triton.cdiv(total, 4096),)](keep, total, p, seed, QUADS=1024)
    apply_kernel[(triton.cdiv(total, 2048),)](x, keep, y, total, 1 - p if p < 1 else 1.0, BLOCK=2048)
    return y, keep

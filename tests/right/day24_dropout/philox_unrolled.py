"""Dropout in FlagGems' manner: tl.philox by hand, four stretches of a block, seed in 64 bits.

May have limits.
"""

import torch
import triton
import triton.language as tl

UNROLL = tl.constexpr(4)


@triton.jit
def apply(x_ptr, y_ptr, mask_ptr, offs, n, r, p, scale):
    bound = offs < n
    keep = tl.uint_to_uniform_float(r) >= p
    x = tl.load(x_ptr + offs, mask=bound, other=0.0).to(tl.float32)
    tl.store(y_ptr + offs, tl.where(keep, x * scale, 0.0), mask=bound)
    tl.store(mask_ptr + offs, keep, mask=bound)


@triton.jit
def dropout_forward_kernel(x_ptr, y_ptr, mask_ptr, n, p, scale, seed, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    c0 = (pid * BLOCK + lane).to(tl.uint32)
    zero = c0 * 0
    r0, r1, r2, r3 = tl.philox(seed, c0, zero, zero, zero)
    off = pid * BLOCK * UNROLL + lane
    apply(x_ptr, y_ptr, mask_ptr, off, n, r0, p, scale)
    apply(x_ptr, y_ptr, mask_ptr, off + BLOCK, n, r1, p, scale)
    apply(x_ptr, y_ptr, mask_ptr, off + 2 * BLOCK, n, r2, p, scale)
    apply(x_ptr, y_ptr, mask_ptr, off + 3 * BLOCK, n, r3, p, scale)


def dropout(x, p, seed):
    y = torch.empty_like(x)
    mask = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    n = x.numel()
    scale = 1.0 / (1.0 - p) if p < 1.0 else 0.0
    grid = (triton.cdiv(n, 512 * 4),)
    dropout_forward_kernel[grid](x, y, mask, n, p, scale, seed, BLOCK=512, num_warps=4)
    return y, mask

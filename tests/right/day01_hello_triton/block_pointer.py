"""2x + 1 by block pointers with a boundary check. May have limits."""

import torch
import triton
import triton.language as tl


@triton.jit
def affine_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    x_block = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    y_block = tl.make_block_ptr(y_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    x = tl.load(x_block, boundary_check=(0,))
    tl.store(y_block, 2 * x + 1, boundary_check=(0,))


def scale_and_shift(x):
    y = torch.empty_like(x)
    affine_kernel[(1,)](x, y, x.numel(), BLOCK=max(16, triton.next_power_of_2(x.numel())))
    return y

"""2x + 1 with module-level constants, a jitted helper and fp32 in the registers."""

import torch
import triton
import triton.language as tl

SCALE = tl.constexpr(2.0)
SHIFT = tl.constexpr(1.0)


@triton.jit
def affine(x):
    return tl.fma(x, SCALE, SHIFT)


@triton.jit
def _affine_fwd(X, Y, N: tl.constexpr):
    cols = tl.arange(0, N)
    x = tl.load(X + cols).to(tl.float32)
    tl.store(Y + cols, affine(x).to(Y.dtype.element_ty))


def scale_and_shift(x: torch.Tensor) -> torch.Tensor:
    assert x.dim() == 1
    assert x.is_contiguous()
    y = x.new_empty(x.shape)
    _affine_fwd[(1,)](x, y, N=x.shape[0], num_warps=4)
    return y

"""One-dimensional block pointers, x.view(-1) in a class, GELU by libdevice.erfc, heuristic warps.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu_erfc(x):
    return 0.5 * x * libdevice.erfc(-x * 0.7071067811865476)


@triton.heuristics({"num_warps": lambda args: 8 if args["BLOCK"] >= 2048 else 4})
@triton.jit
def special_kernel(X, Y, n, GELU: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    x_block = tl.make_block_ptr(
        X, shape=(n,), strides=(1,), offsets=(start,), block_shape=(BLOCK,), order=(0,)
    )
    y_block = tl.make_block_ptr(
        Y, shape=(n,), strides=(1,), offsets=(start,), block_shape=(BLOCK,), order=(0,)
    )
    x = tl.load(x_block, boundary_check=(0,)).to(tl.float32)
    y = gelu_erfc(x) if GELU else libdevice.asinh(x)
    tl.store(y_block, y.to(Y.dtype.element_ty), boundary_check=(0,))


class Pointwise:
    def __init__(self, op, block=1024):
        self.op, self.block = op, block

    def __call__(self, x):
        flat = x.view(-1)
        out = torch.empty_like(flat)
        grid = (triton.cdiv(flat.numel(), self.block),)
        special_kernel[grid](flat, out, flat.numel(), GELU=self.op == "gelu", BLOCK=self.block)
        return out.view(x.shape)


gelu_erf = Pointwise("gelu")
asinh = Pointwise("asinh")

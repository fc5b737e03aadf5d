"""tl.math.erf, and asinh by log1p, a tl.where for large numbers and copysign; autotuned blocks.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

LN2 = tl.constexpr(0.6931471805599453)
RSQRT2 = tl.constexpr(0.7071067811865476)
CONFIGS = [
    triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((512, 4), (1024, 4), (2048, 8))
]


@triton.jit
def gelu(x):
    return x * 0.5 * (1.0 + tl.math.erf(x * RSQRT2))


@triton.jit
def arsinh(x):
    a = tl.abs(x)
    small = libdevice.log1p(a + a * a / (1.0 + tl.sqrt(a * a + 1.0)))
    return libdevice.copysign(tl.where(a > 1e8, tl.log(a) + LN2, small), x)


@triton.autotune(configs=CONFIGS, key=["n", "ASINH"])
@triton.jit
def unary_kernel(x_ptr, y_ptr, n, ASINH: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    y = arsinh(x) if ASINH else gelu(x)
    tl.store(y_ptr + offs, y.to(y_ptr.dtype.element_ty), mask=offs < n)


def _unary(x, is_asinh):
    y = torch.empty_like(x)
    if x.numel() > 0:
        unary_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), ASINH=is_asinh)
    return y


def gelu_erf(x):
    return _unary(x, False)


def asinh(x):
    return _unary(x, True)

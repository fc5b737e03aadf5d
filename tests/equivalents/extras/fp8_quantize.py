"""Mutants of the FP8 quantiser that live, and why."""

from tools.planted import Equivalent

DIVIDES = "magnitudes are exact in 16 bits, and Triton divides 16-bit numbers in fp32"
CASTS = "the store converts to the dtype of what it stores to"
CUTS = "no quotient passes 448 by more than a rounding, and the cast goes to the nearest code"

equivalents = [
    Equivalent(
        "solution:fp8_quantize_kernel",
        "x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0).to(tl.float32)",
        "x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0)",
        DIVIDES,
    ),
    Equivalent(
        "solution:fp8_quantize_kernel",
        "q = (x / scale[:, None]).to(tl.float8e4nv)",
        "q = x / scale[:, None]",
        CASTS,
    ),
    Equivalent(
        "reciprocal:quantize",
        "x = tl.load(X + row * step + col, mask=inside, other=0).to(tl.float32)",
        "x = tl.load(X + row * step + col, mask=inside, other=0)",
        "magnitudes are exact in 16 bits, and tl.where with 448.0 makes fp32 of them",
    ),
    Equivalent(
        "reciprocal:quantize",
        "scaled = tl.clamp(x * (1.0 / s)[:, None], -448.0, 448.0)",
        "scaled = tl.clamp(x * (1.0 / s)[:, None], -449.0, 448.0)",
        CUTS,
    ),
    Equivalent(
        "reciprocal:quantize",
        "scaled = tl.clamp(x * (1.0 / s)[:, None], -448.0, 448.0)",
        "scaled = tl.clamp(x * (1.0 / s)[:, None], -448.0, 449.0)",
        CUTS,
    ),
    Equivalent("reciprocal:quantize", "codes = scaled.to(Q.dtype.element_ty)", "codes = scaled", CASTS),
]

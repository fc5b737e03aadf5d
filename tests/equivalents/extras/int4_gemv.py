"""Mutants of the product with 4-bit weights that live, and why."""

from tools.planted import Equivalent

NOBODY = "what a row holds that is not there ends in columns of y that are not stored"

equivalents = [
    Equivalent(
        "solution:int4_gemv_kernel",
        "packed = tl.load(bytes_ptrs, mask=mask_n[:, None], other=0).to(tl.uint16)",
        "packed = tl.load(bytes_ptrs, mask=mask_n[:, None], other=-float('inf')).to(tl.uint16)",
        NOBODY,
    ),
    Equivalent(
        "solution:int4_gemv_kernel",
        "scale = tl.load(scales_ptr + offs_n * groups + group, mask=mask_n, other=0.0)",
        "scale = tl.load(scales_ptr + offs_n * groups + group, mask=mask_n, other=-float('inf'))",
        NOBODY,
    ),
    Equivalent(
        "solution:int4_gemv_kernel",
        "zero = tl.load(zeros_ptr + offs_n * groups + group, mask=mask_n, other=0).to(tl.uint16)",
        "zero = tl.load(zeros_ptr + offs_n * groups + group, mask=mask_n, other=-float('inf')).to(tl.uint16)",
        NOBODY,
    ),
    Equivalent(
        "solution:int4_gemv_kernel",
        "x = tl.load(x_ptrs, mask=mask_m[:, None], other=0.0)",
        "x = tl.load(x_ptrs, mask=mask_m[:, None], other=-float('inf'))",
        "what a row of x holds that is not there ends in rows of y that are not stored",
    ),
    Equivalent(
        "solution:int4_gemv_kernel",
        "acc += part * scale.to(tl.float32)[:, None]",
        "acc += part * scale[:, None]",
        "part is fp32, and so is its product with 16 bits",
    ),
]

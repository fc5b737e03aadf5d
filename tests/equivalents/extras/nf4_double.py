"""Mutants of double quantisation that live, and why."""

from tools.planted import Equivalent

NOBODY = "what a block holds that is not there ends in elements that are not stored"
SMALL = "a code is at most 15, which eight bits hold as well"

equivalents = [
    Equivalent(
        "solution:codes_kernel",
        "rest = tl.where(mask, tl.load(absmax_ptr + offs, mask=mask, other=0.0) - offset, 0.0)",
        "rest = tl.where(mask, tl.load(absmax_ptr + offs, mask=mask, other=-float('inf')) - offset, 0.0)",
        "where the mask is false the difference is not taken",
    ),
    Equivalent(
        "solution:codes_kernel",
        "ratio = rest / tl.where(scale > 0, scale, 1.0)[:, None]",
        "ratio = rest / tl.where(scale > 0, scale, 2.0)[:, None]",
        "0 over 2 is 0, too",
    ),
    Equivalent(
        "solution:codes_kernel",
        "code += tl.where(ratio > edge, step, 0)",
        "code += tl.where(ratio >= edge, step, 0)",
        "halfway between two entries either one is right",
    ),
    Equivalent(
        "solution:codes_kernel",
        "tl.store(codes_ptr + offs, code.to(tl.uint8), mask=mask)",
        "tl.store(codes_ptr + offs, code, mask=mask)",
        "a store converts to what the pointer points to",
    ),
    Equivalent(
        "solution:dequantize_kernel",
        "packed = tl.ravel(tl.load(packed_ptr + offs_byte, mask=offs_byte < n_bytes, other=0))",
        "packed = tl.ravel(tl.load(packed_ptr + offs_byte, mask=offs_byte < n_bytes, other=-float('inf')))",
        NOBODY,
    ),
    Equivalent(
        "solution:dequantize_kernel",
        "high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)",
        "high = tl.gather(levels, packed >> 4, 0)",
        SMALL,
    ),
    Equivalent(
        "solution:dequantize_kernel",
        "low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)",
        "low = tl.gather(levels, packed & 15, 0)",
        SMALL,
    ),
    Equivalent(
        "solution:dequantize_kernel",
        "code = tl.load(codes_ptr + rows, mask=there, other=0).to(tl.int32)",
        "code = tl.load(codes_ptr + rows, mask=there, other=0)",
        "to a pointer Triton adds an unsigned number as it is, however few its bits",
    ),
    Equivalent(
        "solution:dequantize_kernel",
        "code = tl.load(codes_ptr + rows, mask=there, other=0).to(tl.int32)",
        "code = tl.load(codes_ptr + rows, mask=there, other=-float('inf')).to(tl.int32)",
        NOBODY,
    ),
    Equivalent(
        "solution:dequantize_kernel",
        "scale = tl.load(scales_ptr + rows // BLOCK2, mask=there, other=0.0)",
        "scale = tl.load(scales_ptr + rows // BLOCK2, mask=there, other=-float('inf'))",
        NOBODY,
    ),
]

"""Mutants of NF4 that live, and why."""

from tools.planted import Equivalent

NOBODY = "what a block holds that is not there ends in elements that are not stored"
SMALL = "a code is at most 15, which eight bits hold as well"

equivalents = [
    Equivalent(
        "solution:quantize_kernel",
        "x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)",
        "x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)",
        "the largest of 16 bits is exact, and Triton divides 16 bits in fp32",
    ),
    Equivalent(
        "solution:quantize_kernel",
        "ratio = tl.ravel(x / tl.where(absmax > 0, absmax, 1.0)[:, None])",
        "ratio = tl.ravel(x / tl.where(absmax > 0, absmax, 2.0)[:, None])",
        "0 over 2 is 0, too",
    ),
    Equivalent(
        "solution:quantize_kernel",
        "for bit in tl.static_range(4):",
        "for bit in tl.static_range(5):",
        "a fifth step of 8 >> 4 adds 0, whatever it finds",
    ),
    Equivalent(
        "solution:quantize_kernel",
        "tl.store(packed_ptr + offs_byte, ((high << 4) | low).to(tl.uint8), mask=offs_byte < n_bytes)",
        "tl.store(packed_ptr + offs_byte, high << 4 | low, mask=offs_byte < n_bytes)",
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
        "absmax = tl.load(absmax_ptr + rows, mask=rows * BLOCK < n, other=0.0)",
        "absmax = tl.load(absmax_ptr + rows, mask=rows * BLOCK < n, other=-float('inf'))",
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
]

"""Philox, the generator behind tl.rand, in numpy: the interpreter takes 150 operations for ten rounds.

Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3* (SC 2011). Bit for bit what
Triton computes; a test holds the two against one another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

Array = Any
# Multipliers and key steps of a round, by the width of a word.
CONSTANTS = {
    32: (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
    64: (0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
}


def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: Any = 10) -> tuple[Any, ...]:
    """In the place of tl.random's philox_impl: four words of the counter, two of the key, as tl.tensor."""
    bits = c0.dtype.primitive_bitwidth
    a, b, step_a, step_b = CONSTANTS[bits]
    widest = max((c0, c1, c2, c3), key=lambda c: c.handle.data.size)
    word = c0.handle.data.dtype.type
    x0, x1, x2, x3, s0, s1 = (value.handle.data for value in (c0, c1, c2, c3, k0, k1))
    for _ in range(getattr(n_rounds, "value", n_rounds)):
        (high_b, low_b), (high_a, low_a) = _product(x2, b, bits), _product(x0, a, bits)
        x0, x1, x2, x3 = high_b ^ x1 ^ s0, low_b, high_a ^ x3 ^ s1, low_a
        s0, s1 = s0 + word(step_a), s1 + word(step_b)
    shape = widest.handle.data.shape
    words = [np.broadcast_to(x, shape).astype(word) for x in (x0, x1, x2, x3)]
    handle: Any = interpreter.TensorHandle
    return tuple(tl.tensor(handle(x, c0.dtype.scalar), widest.type) for x in words)


def _product(a: Array, b: int, bits: int) -> tuple[Array, Array]:
    """High and low word of the product of unsigned integers."""
    if bits == 32:
        product = a.astype(np.uint64) * np.uint64(b)
        return (product >> np.uint64(32)).astype(np.uint32), product.astype(np.uint32)
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & mask, a >> half, np.uint64(b) & mask, np.uint64(b) >> half
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (other >> half), a * np.uint64(b)

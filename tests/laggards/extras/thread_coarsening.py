"""Extra: strips whose tiles share nothing, or that never reach the matrix units."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 64 x 256 in 16 turns: 64 * 16 * 2 operations for 80 elements, 26 an element, where the strip has 102.
    Laggard("a is read again for every 16 columns", swap={"BLOCK_N = width_of(a, strip)": "BLOCK_N = 16"}),
    # 68.7 G products, each an instruction of its own in one of 32 lanes. (A broadcast product summed over its
    # middle is no laggard: Triton 3.6 recognises it, and makes a TF32 dot of it on a GPU.)
    Laggard("outer products one by one, without tl.dot", file="outer_products.py"),
]

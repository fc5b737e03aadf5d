"""Mutants of day 30 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:tiled_kernel",
        "offs_n = tl.arange(0, BLOCK_N).to(tl.int64)",
        "offs_n = tl.arange(0, BLOCK_N)",
        "one block of rows: pointers move on from there in 64 bits; day 27 promises 16384 keys at most",
    ),
    Equivalent(
        "solution:tiled_kernel",
        "offs_d = tl.arange(0, BLOCK_D).to(tl.int64)",
        "offs_d = tl.arange(0, BLOCK_D)",
        "D <= 128 columns: a head of 2³¹ elements between two of them is not promised",
    ),
]

"""Mutants of the batched product that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:bmm_kernel",
        "offs_k = tl.arange(0, BLOCK_K).to(tl.int64)",
        "offs_k = tl.arange(0, BLOCK_K)",
        "inner strides of 2³¹ / 64 elements are not tried",
    ),
    Equivalent(
        "solution:bmm",
        "BLOCK_M, BLOCK_N, BLOCK_K = tile_of(a, m, n)",
        "BLOCK_M, BLOCK_N, BLOCK_K = tile_of(a, n, m)",
        "slower alone: another tile",
    ),
]

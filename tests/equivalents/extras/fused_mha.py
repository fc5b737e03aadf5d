"""Mutants of fused multi-head attention that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:load_pairs",
        "angles = offs_m.to(tl.int64)[:, None] * (D // 2) + offs_p[None, :]",
        "angles = offs_m[:, None] * (D // 2) + offs_p[None, :]",
        "tables of 2**31 pairs are those of 33 million positions: no case is that long",
    ),
    Equivalent(
        "solution:turned",
        "return (x1 * cos - x2 * sin).to(x1.dtype), (x2 * cos + x1 * sin).to(x1.dtype)",
        "return x1 * cos - x2 * sin, (x2 * cos + x1 * sin).to(x1.dtype)",
        "slower alone: the first halves are multiplied in fp32, and rounded once less",
    ),
    Equivalent(
        "solution:fused_mha_kernel",
        "edge, end = start_m // BLOCK_N * BLOCK_N, tl.minimum(S, start_m + BLOCK_M)",
        "edge, end = start_m // BLOCK_N * BLOCK_N, S",
        "slower alone: what is skipped is masked as well",
    ),
]

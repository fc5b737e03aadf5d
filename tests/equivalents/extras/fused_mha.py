"""Mutants of fused multi-head attention that live, and why."""

from grader.dev.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:rotated_rows",
        "angles = offs_m.to(tl.int64)[:, None] * (D // 2) + offs_p[None, :]",
        "angles = offs_m[:, None] * (D // 2) + offs_p[None, :]",
        "tables of 2**31 pairs are those of 33 million positions: no case is that long",
    ),
    Equivalent(
        "solution:rotated_rows",
        "x1 = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)",
        "x1 = tl.load(x_ptrs, mask=mask, other=0.0)",
        "fp32 on the other side promotes it: cos and sin are",
    ),
    Equivalent(
        "solution:rotated_rows",
        "return (x1 * cos - x2 * sin).to(dtype), (x2 * cos + x1 * sin).to(dtype)",
        "return x1 * cos - x2 * sin, (x2 * cos + x1 * sin).to(dtype)",
        "slower alone: the first halves are multiplied in fp32, and rounded once less",
    ),
    Equivalent(
        "solution:fused_mha_kernel",
        "end = tl.minimum(S, start_m + BLOCK_M)",
        "end = S",
        "slower alone: what is skipped is masked as well",
    ),
]

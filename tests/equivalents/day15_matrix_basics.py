"""Mutants of day 15 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:matvec_kernel",
        "acc += a.to(tl.float32) * x.to(tl.float32)[None, :]",
        "acc += a * x.to(tl.float32)[None, :]",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:matvec_kernel",
        "acc += a.to(tl.float32) * x.to(tl.float32)[None, :]",
        "acc += a.to(tl.float32) * x[None, :]",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:matvec",
        "BLOCK_M, BLOCK_N = (2, 2048) if a.stride(1) <= a.stride(0) else (32, 256)",
        "BLOCK_M, BLOCK_N = (2, 2048) if a.stride(0) <= a.stride(0) else (32, 256)",
        "slower alone: which block suits the layout",
    ),
    Equivalent(
        "solution:matvec",
        "BLOCK_M, BLOCK_N = (2, 2048) if a.stride(1) <= a.stride(0) else (32, 256)",
        "BLOCK_M, BLOCK_N = (2, 2048) if a.stride(1) <= a.stride(1) else (32, 256)",
        "slower alone: which block suits the layout",
    ),
]

"""Mutants of day 33 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:delta_kernel",
        "delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)",
        "delta = tl.sum(o * do.to(tl.float32), axis=1)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:delta_kernel",
        "delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)",
        "delta = tl.sum(o.to(tl.float32) * do, axis=1)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:dscores_kernel",
        "lse = tl.load(lse_ptr + pid_bh * Sq + offs_m, mask=rows, other=0.0)",
        "lse = tl.load(lse_ptr + pid_bh * Sq + offs_m, mask=rows, other=-float('inf'))",
        "rows past the last, which are not stored",
    ),
    Equivalent(
        "solution:dscores_kernel",
        "delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=rows, other=0.0)",
        "delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=rows, other=-float('inf'))",
        "rows past the last, which are not stored",
    ),
]

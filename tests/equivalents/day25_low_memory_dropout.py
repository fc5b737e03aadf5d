"""Mutants of day 25 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:dropout_kernel",
        "x = tl.load(x_ptrs, mask=mask).to(tl.float32)",
        "x = tl.load(x_ptrs, mask=mask)",
        "scale is fp32, and promotes it",
    )
]

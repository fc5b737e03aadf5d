"""Mutants of day 5 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:outer_add_kernel",
        "out_ptrs = out_ptr + offs_m[:, None].to(tl.int64) * n + offs_n[None, :]",
        "out_ptrs = out_ptr + offs_m[:, None] * n + offs_n[None, :]",
        "day 5 promises no result of 2³¹ elements: day 6 teaches what they take",
    )
]

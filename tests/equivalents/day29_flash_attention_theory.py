"""Mutants of day 29 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:merge_kernel",
        "m1 = tl.load(m1_ptr + offs_m, mask=rows, other=0.0)",
        "m1 = tl.load(m1_ptr + offs_m, mask=rows, other=-float('inf'))",
        "rows past the last, which are not stored",
    ),
    Equivalent(
        "solution:merge_kernel",
        "m2 = tl.load(m2_ptr + offs_m, mask=rows, other=0.0)",
        "m2 = tl.load(m2_ptr + offs_m, mask=rows, other=-float('inf'))",
        "rows past the last, which are not stored",
    ),
    Equivalent(
        "solution:merge_kernel",
        'shift = tl.where(m == -float("inf"), 0.0, m)',
        'shift = tl.where(m == -float("inf"), 1.0, m)',
        "where the maximum is -inf every exponential is 0, for any finite shift",
    ),
    Equivalent(
        "solution:merge_kernel",
        "l1 = tl.load(l1_ptr + offs_m, mask=rows, other=0.0)",
        "l1 = tl.load(l1_ptr + offs_m, mask=rows, other=-float('inf'))",
        "rows past the last, which are not stored",
    ),
    Equivalent(
        "solution:merge_kernel",
        "l2 = tl.load(l2_ptr + offs_m, mask=rows, other=0.0)",
        "l2 = tl.load(l2_ptr + offs_m, mask=rows, other=-float('inf'))",
        "rows past the last, which are not stored",
    ),
]

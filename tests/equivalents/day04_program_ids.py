"""Mutants of day 4 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:axpy_kernel",
        "stride = tl.num_programs(0) * BLOCK",
        "stride = BLOCK",
        "slower alone, as `fast` says: every element is made again and again",
    ),
    Equivalent(
        "solution:axpy_kernel",
        "stride = tl.num_programs(0) * BLOCK",
        "stride = tl.num_programs(1) * BLOCK",
        "slower alone, as `fast` says: every element is made again and again",
    ),
]

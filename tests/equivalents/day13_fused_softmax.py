"""Mutants of day 13 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:softmax_kernel",
        "x = x.to(tl.float32)",
        "pass",
        "tl.max of 16 bits is fp32, and promotes x in the difference",
    ),
    Equivalent(
        "solution:softmax_kernel",
        "x = x.to(tl.float32)",
        "x = x",
        "tl.max of 16 bits is fp32, and promotes x in the difference",
    ),
]

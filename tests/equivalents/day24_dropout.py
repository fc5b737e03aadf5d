"""Mutants of day 24 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:dropout_kernel",
        "counters = pid * (BLOCK // 4) + tl.arange(0, BLOCK // 4)",
        "counters = pid * (BLOCK // 4) - tl.arange(0, BLOCK // 4)",
        "another numbering of the counters, each still used once",
    ),
    Equivalent(
        "solution:dropout_kernel",
        "counters = pid * (BLOCK // 4) + tl.arange(0, BLOCK // 4)",
        "counters = pid * (BLOCK) + tl.arange(0, BLOCK // 4)",
        "another numbering of the counters, each still used once",
    ),
    Equivalent(
        "solution:dropout_kernel",
        "x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)",
        "x = tl.load(x_ptr + offs, mask=mask)",
        "scale is fp32, and promotes it",
    ),
]

"""Mutants of day 18 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:matmul_kernel", "if EVEN_K:", "if False:", "slower alone: a mask that is always true"
    )
]

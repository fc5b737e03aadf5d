"""Mutants of day 18 that live, and why."""

from grader.dev.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:matmul_kernel",
        "if EVEN_K:",
        "if False:",
        "slower alone: a mask that is always true",
    ),
]

"""Mutants of day 9 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:bias_gelu_kernel",
        "u = x.to(tl.float32) + bias.to(tl.float32)[None, :]",
        "u = x + bias.to(tl.float32)[None, :]",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:bias_gelu_kernel",
        "u = x.to(tl.float32) + bias.to(tl.float32)[None, :]",
        "u = x.to(tl.float32) + bias[None, :]",
        "fp32 on the other side promotes it",
    ),
]

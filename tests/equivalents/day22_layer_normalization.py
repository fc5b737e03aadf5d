"""Mutants of day 22 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:layer_norm_kernel",
        "y *= weight.to(tl.float32)[None, :]",
        "y *= weight[None, :]",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:layer_norm_kernel",
        "y += bias.to(tl.float32)[None, :]",
        "y += bias[None, :]",
        "fp32 on the other side promotes it",
    ),
]

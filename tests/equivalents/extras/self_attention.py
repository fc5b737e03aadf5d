"""Mutants of self-attention that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:linear_kernel",
        "acc += tl.load(b_ptr + offs_n, mask=cols, other=0.0)[None, :]",
        "acc += tl.load(b_ptr + offs_n, mask=cols, other=-float('inf'))[None, :]",
        "the columns that get it are not stored",
    )
]

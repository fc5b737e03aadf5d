"""Mutants of day 35 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:forward_kernel",
        "o = acc / tl.where(l_i == 0, 1.0, l_i)[:, None]",
        "o = acc / tl.where(l_i == 0, 2.0, l_i)[:, None]",
        "0 divided by any number is 0",
    ),
    Equivalent(
        "solution:dq_kernel",
        "lse2 = tl.load(lse2_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)",
        "lse2 = tl.load(lse2_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=-float('inf'))",
        "rows past the last query, which are not stored",
    ),
    Equivalent(
        "solution:dkdv_kernel",
        "first = tl.maximum(start_n + Sq - Sk, 0)",
        "first = 0",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:dkdv_kernel",
        "first = tl.maximum(start_n + Sq - Sk, 0)",
        "first = tl.maximum(Sq - Sk, 0)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
]

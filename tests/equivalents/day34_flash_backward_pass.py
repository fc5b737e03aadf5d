"""Mutants of day 34 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:keys_seen",
        "visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)",
        "visible = offs_m + 1 + Sk - Sq",
        "more keys than there are are seen by queries past the last alone, which are 0 and not stored",
    ),
    Equivalent(
        "solution:delta_kernel",
        "delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)",
        "delta = tl.sum(o * do.to(tl.float32), axis=1)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:delta_kernel",
        "delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)",
        "delta = tl.sum(o.to(tl.float32) * do, axis=1)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:dkdv_kernel",
        "if CAUSAL:",
        "if False:",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:dkdv_kernel",
        "first = tl.maximum(start_n + Sq - Sk, 0)",
        "first = tl.maximum(start_n - Sk, 0)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:dkdv_kernel",
        "first = tl.maximum(start_n + Sq - Sk, 0)",
        "first = tl.maximum(start_n - Sq - Sk, 0)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
]

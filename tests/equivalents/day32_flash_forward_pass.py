"""Mutants of day 32 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:keys_seen",
        "visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)",
        "visible = offs_m + 1 + Sk - Sq",
        "more keys than there are are seen by queries past the last alone, which are 0 and not stored",
    ),
    Equivalent(
        "solution:flash_forward_kernel",
        "o = acc / tl.where(l_i == 0, 1.0, l_i)[:, None]",
        "o = acc / tl.where(l_i == 0, 2.0, l_i)[:, None]",
        "0 divided by any number is 0",
    ),
]

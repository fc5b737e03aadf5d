"""Extra: the contents of two vectors exchanged, in place, by one program."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, BYTE, DOUBLE, HALF, INT, LONG, SHORT

WIDE = {DOUBLE: 3**25, LONG: 3**25, INT: 3**15}  # no float of half the width holds it: a detour shows


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """x and y[n]; `log` is the logarithm of n to base 2. `y_layout` and `y_values` make y differ from x."""
    n = 2**case.log if "log" in case else case.n
    x, y = draw(n), tensor(case, draw, "y", n)
    if case.dtype in WIDE:
        x *= WIDE[case.dtype]
        y *= WIDE[case.dtype]
    return x, y


def swapped(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What x and y hold afterwards."""
    return y.clone(), x.clone()


challenge = Challenge(
    entry="swap",
    inputs=inputs,
    reference=swapped,
    writes=(0, 1),
    cases=[
        Case(n=8),
        Case(n=1),
        Case(n=2),
        Case(n=16),
        Case(log=between(5, 9)),
        Case(n=1024),
        Case(n=4096),
        Case(n=16, dtype=HALF),
        Case(n=128, dtype=BRAIN),
        Case(n=128, dtype=DOUBLE),
        Case(n=128, dtype=BYTE, values="integers"),
        Case(n=128, dtype=torch.uint8, values="bytes"),
        Case(n=128, dtype=SHORT, values="integers"),
        Case(n=128, dtype=INT, values="integers"),
        Case(n=128, dtype=LONG, values="integers"),
        Case(n=4096, dtype=HALF, exact=True),
        Case(n=64, layout="offset"),
        Case(n=64, layout="offset", y_layout="contiguous"),
        Case(n=64, layout="contiguous", y_layout="offset", dtype=HALF),
        Case(n=64, values="zeros", y_values="ramp"),
        Case(n=64, values="ramp", y_values="constant"),
        Case(n=64, values="large"),
        Case(n=64, values="heavy", dtype=BRAIN),
        Case(n=64, values="nan", y_values="inf"),
        Case(n=32, calls=2),
        Case(n=2048, dtype=BRAIN, calls=2),
    ],
)

"""Day 26: GELU by erf and asinh by libdevice, in fp32 whatever comes in, both at 0.65 of a plain copy."""

from __future__ import annotations

import torch
from torch.nn.functional import gelu

from grader.challenge import Case, Challenge, Own, Relation, Speed, between
from grader.challenge.formulas.draw_one_input import shape_of
from grader.challenge.formulas.dtypes import HALF

from .suspects import OF_ASINH, OF_GELU

TINY, VAST, HUGE, LAST = Own("tiny"), Own("vast"), Own("huge"), Own("last")
SCALES = {TINY: 1e-4, VAST: 5e19, HUGE: 1e25}


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """A contiguous x of the case's shape, [n], [m, n], [b, m, n] or a single number.

    TINY, VAST and HUGE are normal values times 1e-4, 5e19 and 1e25. LAST are ±3e38, near the last number of
    fp32. All x lie `near` that number: at -2.5, 1 + erf cancels.
    """
    shape = shape_of(case, "b", "m", "n")
    if case.values in SCALES:
        return (draw(*shape, values="normal").mul_(SCALES[case.values]),)
    if case.values == LAST:
        return (draw(*shape, values="large").mul_(3e34),)
    if "near" in case:
        return (draw(*shape, values="integers").div_(8).add_(case.near),)
    return (draw(*shape),)


def moved(x: torch.Tensor) -> int:
    return 2 * x.nbytes


big = Case(n=2**27)

BOTH = [
    Case(n=8),
    Case(n=1),
    Case(n=0),
    Case(),
    Case(n=1023),
    Case(n=1025),
    Case(n=1536),
    Case(n=1056),
    Case(b=3, m=5, n=between(66, 79)),
    Case(n=2053, dtype=HALF),
    Case(n=331, layout="offset"),
    Case(n=300, values="zeros"),
    Case(n=300, values="heavy"),
    Case(n=300, values="large"),
    Case(n=300, values="large", dtype=HALF),
    Case(n=300, values=TINY),
    Case(n=300, values=VAST),
    Case(n=300, values=HUGE),
    Case(n=300, values="inf"),
    Case(n=300, values="some_minus_inf", dtype=HALF),
    Case(n=300, values="nan"),
]

gelu_erf = Challenge(
    entry="gelu_erf",
    inputs=inputs,
    reference=lambda x: gelu(x),
    cases=[
        *BOTH,
        Case(n=127),
        Case(n=1024),
        Case(n=between(4097, 5000)),
        Case(m=7, n=33),
        Case(m=33, n=7),
        Case(b=2, m=9, n=31, dtype=HALF),
        Case(n=300, near=-2.5, dtype=HALF),
        Case(n=331, layout="offset", dtype=HALF),
        Case(n=300, values="negative"),
        Case(n=300, values="heavy", dtype=HALF),
        Case(n=300, calls=2),
        Case(n=3 * 2**30 + 77, dtype=HALF, huge=True),
        # Large enough that a fixed number of programs has several tiles each.
        Case(n=1_300_001),
    ],
    suspects=OF_GELU,
    speed=Speed(big, moved=moved, of_copy=0.65),
)

asinh = Challenge(
    entry="asinh",
    inputs=inputs,
    reference=lambda x: torch.asinh(x),
    cases=[
        *BOTH,
        Case(m=31, n=65),
        Case(n=500, dtype=HALF),
        Case(n=300, values=TINY, dtype=HALF),
        Case(n=300, values=LAST),
        Case(n=300, values="integers"),
        Case(n=300, values="ramp", dtype=HALF),
        Case(n=3 * 2**30 + 77, dtype=HALF, huge=True),
        # Large enough that a fixed number of programs has several tiles each.
        Case(n=1_300_001),
    ],
    suspects=OF_ASINH,
    relations=[
        Relation(
            "the sign of zero",
            Case(n=300, values="zeros"),
            other=lambda x: (-x,),
            holds=lambda one, two: not one[0].signbit().any() and bool(two[0].signbit().all()),
            says="asinh(-0.0) must be -0.0 and asinh(0.0) must be 0.0: a sign that is chosen with x < 0 "
            "misses -0.0.",
        )
    ],
    speed=Speed(big, moved=moved, of_copy=0.65),
)

challenge = (gelu_erf, asinh)

"""Day 26: GELU by erf and asinh by libdevice, in fp32 whatever comes in, both at 0.80 of a plain copy."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import gelu

from grader.challenge import Case, Challenge, Own, Relation, Speed

HALF = torch.float16
TINY, HUGE = Own("tiny"), Own("huge")
SCALES = {TINY: 1e-4, HUGE: 1e25}


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """A contiguous x of the case's shape, [n], [m, n], [b, m, n] or a single number.

    TINY and HUGE are normal values times 1e-4 and 1e25; `near` -2.5, 1 + erf cancels.
    """
    shape = [case.get(side) for side in ("b", "m", "n") if side in case]
    if case.values in SCALES:
        return (draw(*shape, values="normal").mul_(SCALES[case.values]),)
    if "near" in case:
        return (draw(*shape, values="integers").div_(8).add_(case.near),)
    return (draw(*shape),)


def moved(x: torch.Tensor) -> int:
    return 2 * x.nbytes


def erf_of(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.special.erf(x * factor)


def logarithm(x: torch.Tensor) -> torch.Tensor:
    x = x.float()
    return torch.log(x + torch.sqrt(x * x + 1)).double()


def logarithm_of_size(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(logarithm(x.abs()), x)


def log1p_form(x: torch.Tensor) -> torch.Tensor:
    size = x.float().abs()
    square = size * size
    return torch.copysign(torch.log1p(size + square / (1 + torch.sqrt(square + 1))), x.float()).double()


big = Case(n=2**27)

BOTH = [
    Case(n=8),
    Case(n=1),
    Case(n=0),
    Case(),
    Case(n=1023),
    Case(n=1025),
    Case(b=3, m=5, n=67),
    Case(n=2053, dtype=HALF),
    Case(n=331, layout="offset"),
    Case(n=300, values="zeros"),
    Case(n=300, values="heavy"),
    Case(n=300, values="large"),
    Case(n=300, values="large", dtype=HALF),
    Case(n=300, values=TINY),
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
        Case(n=4099),
        Case(m=7, n=33),
        Case(m=33, n=7),
        Case(b=2, m=9, n=31, dtype=HALF),
        Case(n=300, near=-2.5, dtype=HALF),
        Case(n=331, layout="offset", dtype=HALF),
        Case(n=300, values="negative"),
        Case(n=300, values="heavy", dtype=HALF),
        Case(n=300, calls=2),
    ],
    suspects={
        "This is the tanh form of GELU; the day asks for erf, up to 5e-4 away.": (
            lambda x: gelu(x, approximate="tanh")
        ),
        "This is x · sigmoid(1.702 x), up to 2e-2 away from GELU by erf.": lambda x: (
            x * torch.sigmoid(1.702 * x)
        ),
        "erf is taken of x itself; it belongs to x / √2.": lambda x: 0.5 * x * (1 + erf_of(x, 1.0)),
        "x is multiplied by √2 inside of erf; divide by it.": (
            lambda x: 0.5 * x * (1 + erf_of(x, math.sqrt(2)))
        ),
        "x is divided by 2 inside of erf; divide by √2.": lambda x: 0.5 * x * (1 + erf_of(x, 0.5)),
        "This is (1 + erf(x / √2)) / 2: the factor x in front of it is missing.": (
            lambda x: 0.5 * (1 + erf_of(x, math.sqrt(0.5)))
        ),
        "This is erf(x / √2) alone; GELU is x / 2 · (1 + erf(x / √2)).": lambda x: erf_of(x, math.sqrt(0.5)),
        "The 1 before erf(x / √2) is missing.": lambda x: 0.5 * x * erf_of(x, math.sqrt(0.5)),
        "erfc stands where erf belongs: erfc(z) is 1 - erf(z).": lambda x: (
            0.5 * x * (1 + torch.special.erfc(x * math.sqrt(0.5)))
        ),
    },
    speed=Speed(big, moved=moved, of_copy=0.70),
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
        Case(n=300, values="integers"),
        Case(n=300, values="ramp", dtype=HALF),
    ],
    suspects={
        "log(x + √(x² + 1)) cancels near 0 and for negative x, and x² overflows; libdevice.asinh is right.": (
            logarithm
        ),
        "log(|x| + √(x² + 1)) loses a small |x| beside the 1, and x² overflows; libdevice.asinh is right.": (
            logarithm_of_size
        ),
        "x² overflows where |x| passes 1.8e19; libdevice.asinh takes any x.": log1p_form,
        "The sign is lost: asinh(-x) is -asinh(x).": lambda x: torch.asinh(x).abs(),
        "This is acosh, which has no value below 1; the day asks for asinh.": lambda x: torch.acosh(x),
        "This is asin, of the circle; the day asks for asinh.": lambda x: torch.asin(x),
        "This is sinh; the day asks for its inverse.": lambda x: torch.sinh(x),
        "This is atanh, which has no value beyond 1; the day asks for asinh.": lambda x: torch.atanh(x),
        "The logarithm is in base 2; the natural one is asked for.": lambda x: torch.asinh(x) / math.log(2),
    },
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
    speed=Speed(big, moved=moved, of_copy=0.70),
)

challenge = (gelu_erf, asinh)

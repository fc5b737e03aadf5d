"""Day 03: a vector moved by k places, with a fill value where nothing moved in; any length."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, between
from grader.challenge.formulas.dtypes import BRAIN, HALF


def reference(x: torch.Tensor, k: int, fill: float) -> torch.Tensor:
    y = torch.full_like(x, fill)
    first, last = max(0, -k), min(len(x), len(x) - k)  # of the elements that exist, in y's own numbers
    if first < last:
        y[first:last] = x[first + k : last + k]
    return y


def around(x: torch.Tensor, k: int, fill: float) -> torch.Tensor:
    return x.roll(-k) if abs(k) < len(x) else reference(x, k, fill)


def the_other_way(x: torch.Tensor, k: int, fill: float) -> torch.Tensor:
    return reference(x, -k, fill)


challenge = Challenge(
    entry="shift",
    inputs=lambda case, draw: (draw(case.n), case.k, case.fill),
    reference=reference,
    requires=("degenerate_sizes",),
    cases=[
        Case(n=8, k=3, fill=-1.5),
        Case(n=8, k=-3, fill=-1.5),
        Case(n=8, k=0, fill=-1.5),
        Case(n=0, k=2, fill=-1.5),
        Case(n=1, k=0, fill=-1.5),
        Case(n=1, k=1, fill=-1.5),
        Case(n=1, k=-1, fill=-1.5),
        Case(n=5, k=1, fill=0.25),
        Case(n=5, k=-1, fill=0.25),
        Case(n=10, k=9, fill=4.0),
        Case(n=10, k=-9, fill=4.0),
        Case(n=10, k=10, fill=4.0),
        Case(n=10, k=-10, fill=4.0),
        Case(n=10, k=1000, fill=4.0),
        Case(n=10, k=-(10**9), fill=4.0),
        Case(n=127, k=20, fill=0.0),
        Case(n=128, k=-20, fill=2.0),
        Case(n=129, k=64, fill=2.0),
        Case(n=331, k=-7, fill=2.0, dtype=HALF),
        Case(n=331, k=7, fill=2.0, dtype=BRAIN),
        Case(n=1023, k=-1, fill=2.0),
        Case(n=1024, k=1, fill=2.0),
        Case(n=1025, k=-500, fill=2.0),
        Case(n=1056, k=32, fill=2.0),
        Case(n=1536, k=-512, fill=2.0),
        Case(n=between(4000, 4300), k=between(1500, 1900), fill=2.0),
        Case(n=65521, k=-30011, fill=2.0),
        Case(n=65536, k=17, fill=2.0, dtype=HALF),
        Case(n=100, k=30, fill=math.inf, demand="extreme_inputs"),
        Case(n=100, k=-30, fill=-math.inf, demand="extreme_inputs"),
        Case(n=100, k=30, fill=math.nan, demand="extreme_inputs"),
        Case(n=300, k=11, fill=3.0, layout="offset"),
        Case(n=300, k=-11, fill=3.0, layout="offset", dtype=HALF),
        Case(n=300, k=-100, fill=9.0, values="integers", exact=True),
        Case(n=300, k=100, fill=9.0, values="integers", dtype=HALF, exact=True),
        Case(n=200, k=50, fill=0.0, values="constant"),
        Case(n=200, k=-50, fill=1.0, values="heavy"),
        Case(n=200, k=50, fill=1.0, values="large"),
        Case(n=200, k=-3, fill=1.0, values="inf"),
        Case(n=200, k=3, fill=1.0, values="nan"),
        Case(n=200, k=-60, fill=1.0, calls=2),
    ],
    suspects={
        "x wraps around: where no element moved in, fill belongs.": around,
        "x moves the other way: y[i] is x[i + k].": the_other_way,
    },
)

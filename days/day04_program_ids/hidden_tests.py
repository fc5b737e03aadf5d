"""Day 04: alpha * x + y by exactly as many programs as asked for, at 0.60 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.draw_one_input import tensor


def inputs(case: Case, draw) -> tuple[float, torch.Tensor, torch.Tensor, int]:
    """alpha is drawn unless given, and never 0 or 1; `y_layout` makes y lie otherwise than x."""
    drawn = draw.integer(8, 30) / 7
    y = tensor(case, draw, "y", case.n)
    return case.get("alpha", drawn), draw(case.n), y, case.programs


challenge = Challenge(
    entry="axpy",
    inputs=inputs,
    reference=lambda alpha, x, y, num_programs: alpha * x + y,
    requires=("degenerate_sizes",),
    shown=Case(n=10000, programs=7),
    cases=[
        Case(n=8, programs=1),
        Case(n=1, programs=1),
        Case(n=1, programs=5),
        Case(n=0, programs=3),
        Case(n=100, programs=2),
        Case(n=1023, programs=1),
        Case(n=1024, programs=1),
        Case(n=1025, programs=1),
        Case(n=1056, programs=1),
        Case(n=1025, programs=2),
        Case(n=2048, programs=3),
        Case(n=3000, programs=200),
        Case(n=10000, programs=1),
        Case(n=10000, programs=2),
        Case(n=10000, programs=3),
        Case(n=10000, programs=7),
        Case(n=10000, programs=64),
        Case(n=16384, programs=4),
        Case(n=between(19_000, 21_000), programs=5),
        Case(n=70001, programs=16),
        Case(n=70001, programs=1),
        Case(n=2**24 + 5, programs=777, gpu=True),
        Case(n=2500, programs=2, layout="offset"),
        Case(n=2500, programs=2, layout="offset", y_layout="contiguous"),
        Case(n=5003, programs=1, alpha=3.0, values="integers", exact=True),
        Case(n=5003, programs=4, alpha=3.0, values="integers", exact=True),
        Case(n=5003, programs=9, alpha=-1.0, values="integers", exact=True),
        Case(n=1500, programs=2, alpha=0.0, values="heavy"),
        Case(n=1500, programs=2, alpha=1.0, values="large"),
        Case(n=1500, programs=2, values="large"),
        Case(n=1500, programs=3, values="heavy"),
        Case(n=1500, programs=3, values="constant"),
        Case(n=1500, programs=3, values="inf"),
        Case(n=1500, programs=3, alpha=0.0, values="inf"),
        Case(n=1500, programs=3, values="nan"),
        Case(n=3000, programs=2, calls=2),
    ],
    programs=lambda alpha, x, y, num_programs: num_programs,
    speed=Speed(
        Case(n=2**25, programs=2048), moved=lambda alpha, x, y, num_programs: 3 * x.nbytes, of_copy=0.60
    ),
)

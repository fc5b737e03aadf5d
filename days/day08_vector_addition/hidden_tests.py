"""Day 08: x + y for vectors of any length and stride, at 0.80 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import HALF, SINGLE


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """x and y; `y_dtype` and `y_layout` make y differ from x."""
    y = tensor(case, draw, "y", case.n)
    return draw(case.n), y


big = Case(n=2**27, gpu=True)

challenge = Challenge(
    entry="add",
    inputs=inputs,
    reference=lambda x, y: x + y,
    rowwise=True,
    requires=("int32_overflow", "degenerate_sizes"),
    cases=[
        Case(n=8),
        Case(n=1),
        Case(n=0),
        Case(n=0, dtype=HALF, y_dtype=SINGLE),
        Case(n=127),
        Case(n=1023),
        Case(n=1024),
        Case(n=1056),
        Case(n=1025),
        Case(n=between(4097, 5000)),
        Case(n=500, dtype=HALF),
        Case(n=500, dtype=HALF, y_dtype=SINGLE),
        Case(n=500, dtype=SINGLE, y_dtype=HALF),
        Case(n=331, layout="offset"),
        Case(n=331, layout="offset", dtype=HALF),
        Case(n=100, layout="strided"),
        Case(n=101, layout="strided", y_layout="contiguous"),
        Case(n=102, layout="offset", y_layout="strided"),
        Case(n=103, layout="expanded", y_layout="contiguous"),
        Case(n=1777, layout="strided"),
        Case(n=1200, values="integers", exact=True),
        Case(n=1200, values="integers", dtype=HALF, exact=True),
        Case(n=200, values="constant"),
        Case(n=200, values="heavy"),
        Case(n=200, values="large"),
        Case(n=200, values="large", dtype=HALF),
        Case(n=200, values="inf"),
        Case(n=200, values="nan"),
        Case(n=300, calls=2),
        Case(n=3 * 2**30 + 77, dtype=HALF, huge=True),
        Case(n=3 * 2**29 + 77, dtype=HALF, layout="strided", huge=True),
        # Large enough that a fixed number of programs has several tiles each.
        Case(n=1_300_001),
    ],
    speed=Speed(big, moved=lambda x, y: 3 * x.nbytes, of_copy=0.80),
    memory=Memory(big),
)

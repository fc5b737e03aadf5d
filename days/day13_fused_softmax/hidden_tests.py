"""Day 13: softmax over rows, each element read once and written once."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

big = Case(rows=16384, cols=8192, dtype=HALF, gpu=True)


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """x; row i moves by (i + 1) times `shift`."""
    x = draw(case.rows, case.cols)
    if "shift" in case:
        x += case.shift * torch.arange(1, case.rows + 1, dtype=x.dtype, device=x.device)[:, None]
    return (x,)


CASES = [
    Case(rows=4, cols=8),
    Case(rows=1, cols=1),
    Case(rows=5, cols=1),
    Case(rows=0, cols=8),
    Case(rows=2, cols=33),
    Case(rows=3, cols=127),
    Case(rows=3, cols=128),
    Case(rows=3, cols=129),
    Case(rows=between(33, 47), cols=between(700, 800)),
    Case(rows=3, cols=1023),
    Case(rows=3, cols=1025),
    Case(rows=1, cols=2003),
    Case(rows=2, cols=4093),
    Case(rows=2, cols=16384),
    Case(rows=9, cols=100, dtype=HALF),
    Case(rows=9, cols=112, dtype=HALF),
    Case(rows=9, cols=96, dtype=HALF),
    Case(rows=9, cols=100, dtype=BRAIN),
    Case(rows=2, cols=10007, dtype=HALF),
    Case(rows=4, cols=20, layout="sliced"),
    Case(rows=7, cols=1025, layout="sliced"),
    Case(rows=7, cols=200, layout="padded", dtype=HALF),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=6, cols=50, layout="expanded"),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=70, values="large", dtype=HALF),
    Case(rows=5, cols=300, values="heavy"),
    Case(rows=5, cols=300, values="negative"),
    Case(rows=5, cols=300, values="negative", shift=-1e4),
    Case(rows=3, cols=300, values="negative", shift=-1e30, demand="extreme_inputs"),
    Case(rows=5, cols=300, values="integers"),
    Case(rows=5, cols=256, values="constant"),
    Case(rows=5, cols=77, values="ties"),
    Case(rows=5, cols=77, values="spike"),
    Case(rows=5, cols=77, values="rising"),
    Case(rows=5, cols=77, values="some_minus_inf", demand="values"),
    Case(rows=5, cols=77, values="minus_inf", demand="values"),
    Case(rows=5, cols=77, values="inf"),
    Case(rows=5, cols=77, values="nan"),
    Case(rows=4, cols=60, calls=2),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=60_000_001, cols=37, huge=True),
    Case(rows=2100, cols=9, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=5, values="negative", shift=-100.0),
]

challenge = Challenge(
    entry="softmax",
    inputs=inputs,
    reference=lambda x: torch.softmax(x, dim=-1),
    rowwise=True,
    requires=("degenerate_sizes",),
    forbids={
        "tl.softmax": "tl.softmax does today's work for you. Write its steps: maximum, exp, sum, quotient."
    },
    shown=Case(rows=9, cols=100, dtype=HALF),
    cases=CASES,
    suspects={
        "exp2 is base 2: multiply by log2(e) first.": lambda x: torch.softmax(x * math.log(2), dim=-1),
        "These are the logarithms of the right results.": lambda x: torch.log_softmax(x, dim=-1),
        "The weights are not divided by their sum.": lambda x: (x - x.amax(dim=-1, keepdim=True)).exp(),
    },
    speed=Speed(big, moved=lambda x: 2 * x.nbytes, of_copy=0.65),
    memory=Memory(big),
)

"""Day 12: log of a sum of exponentials, where exp() alone would overflow, underflow or give NaN."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """x; row i moves by (i + 1) times `shift`; the first `blank` columns are -inf. Every row begins with the
    number `first`; every row ends with the number `last`.
    """
    x = draw(case.rows, case.cols)
    if "shift" in case:
        x += case.shift * torch.arange(1, case.rows + 1, dtype=x.dtype, device=x.device)[:, None]
    if "blank" in case:
        x[:, : case.blank] = -math.inf
    if "first" in case:
        x[:, 0] = case.first
    if "last" in case:
        x[:, -1] = case.last
    return (x,)


big = Case(rows=8192, cols=8192, gpu=True)

CASES = [
    Case(rows=4, cols=8),
    Case(rows=1, cols=1),
    Case(rows=5, cols=1),
    Case(rows=0, cols=8),
    Case(rows=2, cols=33),
    Case(rows=3, cols=127),
    Case(rows=4, cols=128),
    Case(rows=3, cols=129),
    Case(rows=between(33, 47), cols=between(700, 800)),
    Case(rows=4, cols=1024),
    Case(rows=3, cols=1025),
    Case(rows=4, cols=4096),
    Case(rows=3, cols=4097),
    Case(rows=1, cols=10007),
    Case(rows=2, cols=16384),
    Case(rows=1, cols=33333),
    Case(rows=9, cols=100, dtype=HALF),
    Case(rows=9, cols=112, dtype=HALF),
    Case(rows=9, cols=96, dtype=HALF),
    Case(rows=9, cols=100, dtype=BRAIN),
    Case(rows=3, cols=9001, dtype=HALF),
    Case(rows=3, cols=9001, dtype=BRAIN),
    Case(rows=4, cols=20, layout="sliced"),
    Case(rows=3, cols=4099, layout="sliced"),
    Case(rows=7, cols=200, layout="padded", dtype=HALF),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=6, cols=50, layout="expanded"),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=70, values="large", dtype=HALF),
    Case(rows=5, cols=70, values="large", dtype=BRAIN),
    Case(rows=5, cols=300, values="heavy"),
    Case(rows=5, cols=300, values="heavy", dtype=HALF),
    Case(rows=5, cols=300, values="integers"),
    Case(rows=5, cols=300, values="negative"),
    Case(rows=5, cols=300, values="negative", shift=-1e4),
    Case(rows=5, cols=300, values="negative", shift=-1e4, dtype=HALF),
    Case(rows=2, cols=9001, values="negative", shift=-1e4),
    Case(rows=1, cols=20011, values="negative", shift=-1e4),
    Case(rows=3, cols=300, values="negative", shift=-1e30),
    Case(rows=2, cols=9001, values="negative", shift=-1e30, dtype=BRAIN),
    Case(rows=5, cols=4096, values="constant"),
    Case(rows=5, cols=4096, values="constant", dtype=HALF),
    Case(rows=5, cols=77, values="ties"),
    Case(rows=3, cols=77, values="spike"),
    Case(rows=1, cols=20011, values="spike", last=123_456.7),
    Case(rows=2, cols=9001, values="spike", last=200.0, dtype=BRAIN),
    Case(rows=1, cols=20011, values="spike", first=1e4),
    # Each of the small terms is beneath the last digit of the sum, and together they are not.
    Case(rows=1, cols=33333, values="zeros", first=16.5),
    Case(rows=2, cols=9001, values="rising"),
    Case(rows=5, cols=77, values="some_minus_inf"),
    Case(rows=2, cols=9001, values="some_minus_inf", blank=8500),
    Case(rows=1, cols=20011, values="some_minus_inf", blank=17000, dtype=HALF),
    Case(rows=5, cols=77, values="minus_inf"),
    Case(rows=3, cols=9000, values="minus_inf", dtype=HALF),
    Case(rows=5, cols=77, values="inf"),
    Case(rows=5, cols=77, values="inf", dtype=BRAIN),
    Case(rows=5, cols=77, values="nan"),
    Case(rows=4, cols=60, calls=2),
    # More rows than the second axis of a grid has programs.
    Case(rows=140_001, cols=8, gpu=True, demand="grid_axes"),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=2100, cols=9, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=5, values="negative", shift=-100.0),
]

challenge = Challenge(
    entry="logsumexp",
    inputs=inputs,
    reference=lambda x: torch.logsumexp(x, dim=-1),
    returns=torch.float32,
    requires=("extreme_inputs", "degenerate_sizes"),
    shown=Case(rows=9, cols=100, dtype=HALF),
    cases=CASES,
    suspects={
        "The maximum you subtracted is not added back to the logarithm.": lambda x: (
            torch.logsumexp(x, dim=-1) - x.amax(dim=-1)
        ),
        "The maximum is added behind the logarithm, but was not subtracted before.": lambda x: (
            torch.logsumexp(x, dim=-1) + x.amax(dim=-1)
        ),
        "The maximum is added inside the logarithm: it belongs outside.": lambda x: torch.log(
            torch.exp(x - x.amax(dim=-1, keepdim=True)).sum(dim=-1) + x.amax(dim=-1)
        ),
        "The logarithm is in base 2; the natural one is asked for.": lambda x: (
            x.amax(dim=-1) + torch.log2(torch.exp(x - x.amax(dim=-1, keepdim=True)).sum(dim=-1))
        ),
        "Every element is that of row 0: each program works on the same row.": lambda x: torch.logsumexp(
            x[:1], dim=-1
        ).expand(len(x)),
    },
    speed=Speed(big, moved=lambda x: x.nbytes, of_copy=0.62),
    memory=Memory(big),
)

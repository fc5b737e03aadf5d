"""Day 14: softmax over rows of up to 262144 elements, in two passes."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """x; row i moves by (i + 1) times `shift`; its first `blank` columns are -inf."""
    x = draw(case.rows, case.cols)
    if "shift" in case:
        x += case.shift * torch.arange(1, case.rows + 1, dtype=x.dtype, device=x.device)[:, None]
    if "blank" in case:
        x[:, : case.blank] = -math.inf
    return (x,)


big = Case(rows=2048, cols=65536, dtype=HALF, gpu=True)

CASES = [
    Case(rows=4, cols=8),
    Case(rows=1, cols=1),
    Case(rows=5, cols=1),
    Case(rows=0, cols=8),
    Case(rows=2, cols=33),
    Case(rows=between(17, 23), cols=between(700, 800)),
    Case(rows=3, cols=1023),
    Case(rows=3, cols=1008),
    Case(rows=3, cols=992),
    Case(rows=3, cols=1025),
    Case(rows=4, cols=4096),
    Case(rows=3, cols=10007),
    Case(rows=2, cols=32768),
    Case(rows=2, cols=32769),
    Case(rows=2, cols=65537),
    Case(rows=1, cols=2**18),
    Case(rows=5, cols=100, dtype=HALF),
    Case(rows=5, cols=100, dtype=BRAIN),
    Case(rows=2, cols=40009, dtype=BRAIN),
    Case(rows=4, cols=20, layout="sliced"),
    Case(rows=2, cols=33000, layout="padded", dtype=HALF),
    Case(rows=2, cols=5000, layout="offset"),
    Case(rows=6, cols=50, layout="expanded"),
    Case(rows=3, cols=9000, values="large"),
    Case(rows=3, cols=9000, values="large", dtype=HALF),
    Case(rows=1, cols=100003, values="heavy", dtype=HALF),
    Case(rows=3, cols=300, values="negative", shift=-1e4),
    Case(rows=2, cols=9001, values="negative", shift=-1e30, demand="extreme_inputs"),
    Case(rows=4, cols=4096, values="constant"),
    Case(rows=2, cols=5000, values="ties"),
    Case(rows=2, cols=9001, values="spike"),
    Case(rows=2, cols=9001, values="rising"),
    Case(rows=1, cols=131101, values="rising"),
    Case(rows=5, cols=77, values="some_minus_inf", demand="values"),
    Case(rows=2, cols=9001, values="some_minus_inf", blank=8500, demand="values"),
    Case(rows=1, cols=70001, values="some_minus_inf", blank=69000, demand="values"),
    Case(rows=5, cols=77, values="minus_inf", demand="values"),
    Case(rows=2, cols=9001, values="minus_inf", demand="values"),
    *(Case(rows=5, cols=77, values=values) for values in ("inf", "nan")),
    Case(rows=2, cols=5000, calls=2),
    # More than four programs on each SM of an H200, as many as have room there with 16 warps each.
    Case(rows=541, cols=5),
    Case(rows=561, cols=7, shift=-100.0),
    Case(rows=60_001, cols=5, gpu=True),  # more than any GPU's programs
    Case(rows=140_001, cols=5, gpu=True, demand="grid_axes"),
    Case(rows=11_001, cols=2**18 - 5, dtype=HALF, huge=True),
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
    cases=CASES,
    suspects={
        "exp2 is base 2: multiply by log2(e) first.": lambda x: torch.softmax(x * math.log(2), dim=-1),
        "These are the logarithms of the right results.": lambda x: torch.log_softmax(x, dim=-1),
    },
    speed=Speed(big, moved=lambda x: 2 * x.nbytes, of_torch=1.0),
    memory=Memory(big),
)

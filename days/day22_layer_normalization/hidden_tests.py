"""Day 22: layer normalization over rows, each element read once and written once, at 0.56 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Own, Speed, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.layer_norm import Vector, layer_norm

from .suspects import SUSPECTS

FAR = Own("far")
Arguments = tuple[torch.Tensor, Vector, Vector, float]


def inputs(case: Case, draw) -> Arguments:
    """x laid out as the case says; weight and bias are contiguous, or None where the case says so.

    FAR are numbers 8192 and 8193: fp32 has their squares in steps of 8, and the variance is a quarter. Rows
    are `gain` times as large as drawn, and with `first` start with that number.
    """
    if case.values == FAR:
        x = draw(case.rows, case.cols, values="normal")
        x.copy_((x > 0) + 8192.0)
    else:
        x = draw(case.rows, case.cols)
    if "gain" in case:
        x *= case.gain
    if "first" in case:
        x[:, :1] = case.first
    weight = vector(case, draw, case.cols, "normal") if case.get("weight", True) else None
    bias = vector(case, draw, case.cols, "normal") if case.get("bias", True) else None
    return x, weight, bias, case.get("eps", 1e-5)


big = Case(rows=16384, cols=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(rows=4, cols=8),
    Case(rows=1, cols=1),
    Case(rows=5, cols=1),
    Case(rows=0, cols=8),
    Case(rows=7, cols=7),
    Case(rows=2, cols=33),
    Case(rows=139, cols=65),
    Case(rows=3, cols=127),
    Case(rows=64, cols=128),
    Case(rows=80, cols=144),
    Case(rows=96, cols=160),
    Case(rows=3, cols=129),
    Case(rows=between(33, 47), cols=between(700, 800)),
    Case(rows=5, cols=1023),
    Case(rows=5, cols=1025),
    Case(rows=3, cols=4096),
    Case(rows=3, cols=4099),
    Case(rows=2, cols=16384),
    Case(rows=6, cols=50, weight=False),
    Case(rows=6, cols=50, bias=False),
    Case(rows=6, cols=50, weight=False, bias=False),
    Case(rows=6, cols=50, eps=0.5),
    Case(rows=9, cols=100, dtype=HALF),
    Case(rows=9, cols=100, dtype=BRAIN),
    Case(rows=9, cols=100, weight=False, bias=False, dtype=BRAIN),
    Case(rows=2, cols=10007, dtype=HALF),
    Case(rows=4, cols=20, layout="sliced"),
    Case(rows=7, cols=1025, layout="sliced"),
    Case(rows=7, cols=200, layout="padded", dtype=HALF),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=5, cols=64, layout="offset", dtype=BRAIN),
    Case(rows=6, cols=50, layout="expanded"),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=70, values="large", dtype=HALF),
    Case(rows=5, cols=300, values="heavy"),
    Case(rows=5, cols=300, values="heavy", dtype=HALF),
    Case(rows=5, cols=300, values="negative"),
    Case(rows=5, cols=300, values="negative", dtype=HALF),
    Case(rows=3, cols=4096, values="negative", dtype=BRAIN),
    Case(rows=5, cols=300, values="integers"),
    Case(rows=5, cols=64, values="constant"),
    Case(rows=5, cols=100, values="constant", eps=0.1, dtype=HALF),
    Case(rows=8, cols=64, values=FAR, eps=1.0),
    Case(rows=5, cols=77, values="spike"),
    Case(rows=8, cols=16384, first=1000.0),
    Case(rows=5, cols=77, gain=1e-6, eps=1e-12),
    Case(rows=5, cols=77, values="rising"),
    Case(rows=5, cols=77, values="inf"),
    Case(rows=5, cols=77, values="nan"),
    Case(rows=4, cols=60, calls=2),
    # More rows than the second axis of a grid has programs.
    Case(rows=140_001, cols=8, gpu=True, demand="grid_axes"),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=60_000_001, cols=37, weight=False, bias=False, huge=True),
    Case(rows=2100, cols=9, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=5),
]

OF_SMALL_EPS = {
    "A small eps is lost on the way, as in fp16, whose least number is far above it. Keep it in fp32.": (
        lambda x, weight, bias, eps: layer_norm(x, weight, bias, eps if eps > 6e-8 else 0.0)
    ),
    "An eps below 1e-6 is raised to 1e-6; the one that is given counts.": (
        lambda x, weight, bias, eps: layer_norm(x, weight, bias, max(eps, 1e-6))
    ),
}

challenge = Challenge(
    entry="layer_norm",
    inputs=inputs,
    reference=layer_norm,
    rowwise=True,
    cases=CASES,
    suspects={**OF_SMALL_EPS, **SUSPECTS},
    speed=Speed(big, moved=lambda x, weight, bias, eps: 2 * x.nbytes + 2 * weight.nbytes, of_copy=0.56),
    # A few numbers a row, such as mean and variance, are no second matrix.
    memory=Memory(big, extra=lambda x, *_: 16 * len(x)),
)

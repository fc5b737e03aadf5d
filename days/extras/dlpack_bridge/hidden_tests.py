"""Extra: x + alpha * y for objects that hand their memory over by DLPack, at 0.80 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Made, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, float]:
    """x and y, of which exporters are made, and alpha; `y_layout` makes y differ from x."""
    shape = (case.m, case.n) if "m" in case else (case.n,)
    return draw(*shape), tensor(case, draw, "y", *shape), case.get("alpha", 0.5)


def added(x: Tensor, y: Tensor, alpha: float) -> Tensor:
    return torch.add(x, y, alpha=alpha)


big = Case(n=2**27, gpu=True)

challenge = Challenge(
    entry="scaled_add",
    inputs=inputs,
    made=[Made(0, "dlpack"), Made(1, "dlpack")],
    reference=added,
    rowwise=True,
    suspects={
        "What you compute is x + y: alpha is left out.": lambda x, y, alpha: x + y,
        "What you compute is alpha * x + y: alpha goes with y.": lambda x, y, alpha: alpha * x + y,
    },
    cases=[
        Case(n=8),
        Case(n=0),
        Case(n=1),
        Case(n=1023),
        Case(n=1025, alpha=-1.25),
        Case(n=between(2050, 3900)),
        Case(m=1, n=1),
        Case(m=0, n=8),
        Case(m=8, n=0),
        Case(m=7, n=33, alpha=3.0),
        Case(m=between(4, 9), n=1030, alpha=1.0),
        Case(m=50, n=1, alpha=0.0),
        Case(n=331, dtype=HALF, alpha=3.0),
        Case(m=5, n=67, dtype=BRAIN, alpha=0.1),
        Case(n=100, layout="strided"),
        Case(n=101, layout="strided", y_layout="contiguous", alpha=-2.0),
        Case(n=331, layout="offset"),
        Case(m=6, n=50, layout="offset", dtype=HALF),
        Case(n=103, layout="contiguous", y_layout="expanded"),
        Case(m=9, n=40, layout="transposed"),
        Case(m=9, n=41, layout="contiguous", y_layout="transposed"),
        Case(m=9, n=42, layout="sliced", y_layout="contiguous"),
        Case(m=9, n=43, layout="columns", y_layout="padded", dtype=HALF),
        Case(m=9, n=44, layout="expanded", y_layout="scalar"),
        Case(m=4, n=1100, layout="transposed", y_layout="sliced", alpha=2.5),
        Case(n=200, values="heavy"),
        Case(m=9, n=40, calls=2),
    ],
    speed=Speed(big, moved=lambda x, y, alpha: x.nbytes + y.nbytes + x.nbytes, of_copy=0.80),
    memory=Memory(big),
)

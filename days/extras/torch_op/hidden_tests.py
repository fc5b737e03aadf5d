"""Extra: x + alpha * y as operators of torch's, at 0.80 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Compilations, Gradients, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, float]:
    """x, y and alpha; `y_layout` makes y differ from x."""
    return draw(case.n), tensor(case, draw, "y", case.n), case.get("alpha", 0.5)


def added(x: Tensor, y: Tensor, alpha: float) -> Tensor:
    return torch.add(x, y, alpha=alpha)


def plain(x: Tensor, y: Tensor, alpha: float) -> None:
    x.add_(y, alpha=alpha)


def moved(x: Tensor, y: Tensor, alpha: float) -> int:
    return x.nbytes + y.nbytes + x.nbytes


SUSPECTS = {
    "What you compute is x + y: alpha is left out.": lambda x, y, alpha: x + y,
    "What you compute is alpha * x + y: alpha goes with y.": lambda x, y, alpha: alpha * x + y,
    "What you compute is alpha * (x + y): alpha goes with y alone.": lambda x, y, alpha: alpha * (x + y),
    "What you compute is x - alpha * y: it is added.": lambda x, y, alpha: x - alpha * y,
}

BOTH = [
    Case(n=8),
    Case(n=0),
    Case(n=1),
    Case(n=1023),
    Case(n=1024),
    Case(n=1025),
    Case(n=between(2050, 3900), alpha=-1.25),
    Case(n=600, alpha=0.0),
    Case(n=600, alpha=1.0),
    Case(n=331, dtype=HALF, alpha=3.0),
    Case(n=331, dtype=BRAIN, alpha=0.1),
    Case(n=100, layout="strided"),
    Case(n=101, layout="strided", y_layout="contiguous"),
    Case(n=102, layout="offset", y_layout="strided", alpha=-2.0),
    Case(n=103, layout="contiguous", y_layout="expanded"),
    Case(n=331, layout="offset", dtype=HALF),
    Case(n=200, values="heavy"),
    Case(n=300, calls=2, alpha=0.75),
]

big = Case(n=2**27, gpu=True)

challenge = (
    Challenge(
        entry="scaled_add",
        inputs=inputs,
        reference=added,
        operator="track::scaled_add",
        gradients=Gradients(of=(0, 1), saved=lambda x, y, alpha: 0),
        suspects=SUSPECTS,
        compilations=Compilations([Case(n=600, alpha=a) for a in (0.5, 2.0, -3.0, 0.0, 7.5)], most=2),
        cases=[
            *BOTH,
            Case(n=104, layout="expanded", y_layout="contiguous"),
            Case(n=300, alone=1, alpha=-0.5),
            Case(n=301, upstream="strided"),
            Case(n=302, upstream="scalar", alpha=1.5),
        ],
        speed=Speed(big, moved=moved, of_copy=0.80),
        memory=Memory(big),
    ),
    Challenge(
        entry="scaled_add_",
        inputs=inputs,
        reference=added,
        operator="track::scaled_add_",
        writes=(0,),
        suspects=SUSPECTS,
        cases=BOTH,
        speed=Speed(big, moved=moved, of_copy=0.80, torch=plain),
    ),
)

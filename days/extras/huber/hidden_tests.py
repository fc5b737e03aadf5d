"""Extra: Huber's loss and the mean absolute error, both passes at 0.7 of a plain copy."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor
from torch.nn.functional import huber_loss

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import shape_of, tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.tensor_storage import span

from .suspects import OF_HUBER, OF_MAE, mean_absolute

SIDES = ("a", "b", "m", "n")


def inputs(case: Case, draw) -> tuple[Tensor, Tensor]:
    """x and y, each laid out by itself; with `equal` every third element is the same in both."""
    x, y = (tensor(case, draw, which, *shape_of(case, *SIDES)) for which in "xy")
    if "equal" in case:
        x.view(-1)[::3] = y.view(-1)[::3]
    return x, y


def beside_delta(case: Case, draw) -> tuple[Tensor, Tensor, float]:
    """x, y and delta; with `equal` every third element of x and y is the same."""
    return *inputs(case, draw), case.get("delta", 1.0)


def wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def length(case: Case) -> int:
    return prod(shape_of(case, *SIDES))


def kept(x: Tensor, y: Tensor, *_) -> int:
    """Both as they lie in memory, gaps and all."""
    return span(x) + span(y)


long = Case(n=2**27, gpu=True)

# What both are tried on.
BOTH = [
    Case(m=3, n=8),
    Case(n=1),
    Case(),
    Case(m=0, n=8),
    Case(n=2047),
    Case(n=2049),
    Case(n=1536),
    Case(n=1056),
    Case(a=2, b=3, m=4, n=5),
    Case(m=between(5, 15), n=between(18, 31), equal=True),
    Case(m=16, n=50, dtype=HALF),
    Case(m=16, n=50, dtype=BRAIN),
    Case(m=9, n=72, layout="padded"),
    Case(m=9, n=70, layout="sliced", y_layout="contiguous"),
    # Sorted rows lie close to one another, and those of another order do not.
    Case(m=9, n=70, layout="contiguous", y_layout="transposed", values="rising", dtype=HALF),
    Case(a=2, b=3, m=4, n=5, layout="transposed", y_layout="sliced"),
    Case(m=9, n=70, layout="expanded", y_layout="scalar"),
    Case(m=9, n=70, layout="offset", dtype=BRAIN),
    Case(m=9, n=70, values="large", dtype=HALF),
    Case(m=9, n=70, values="heavy"),
    Case(m=9, n=70, values="inf", y_values="normal"),
    Case(m=9, n=70, values="nan", y_values="normal"),
    Case(m=40, n=60, calls=2),
    *(Case(m=9, n=30, alone=which) for which in range(2)),
    Case(n=2**31 + 12_345, dtype=HALF, huge=True),
    Case(m=2100, n=9, layout="far", dtype=HALF, huge=True),
]

HUBER_ALONE = [
    Case(m=20, n=33),
    Case(m=20, n=33, delta=0.1),
    Case(m=20, n=33, delta=3.0),
    Case(m=20, n=33, delta=100.0),
    Case(n=20_011, delta=0.5),
    Case(b=3, m=4, n=50, layout="strided", y_layout="strided"),
    Case(m=9, n=70, values="integers", delta=2.0),
    Case(m=9, n=70, values="inf"),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=4301, n=5),
    Case(m=601, n=501),
]

of_huber = Challenge(
    entry="huber",
    inputs=beside_delta,
    reference=lambda x, y, delta: huber_loss(wide(x), wide(y), delta=delta),
    reduces=length,
    no_host_reads=True,
    gradients=Gradients(of=(0, 1), saved=kept),
    suspects=OF_HUBER,
    shown=Case(m=20, n=33),
    pieces=(  # the results are the mean and the gradients of x and y
        Piece("sums of blocks", "loss_kernel", results=(0,)),
        Piece("mean", "mean_kernel", results=(0,)),
        Piece("dx", "backward_kernel", results=(1,)),
        Piece("dy", "backward_kernel", results=(2,)),
    ),
    cases=[*BOTH, *HUBER_ALONE],
    speed=Speed(long, moved=lambda x, *_: 6 * x.nbytes, of_copy=0.70, part="both"),
)

of_mae = Challenge(
    entry="mae",
    inputs=inputs,
    reference=lambda x, y: mean_absolute(wide(x), wide(y)),
    reduces=length,
    no_host_reads=True,
    gradients=Gradients(of=(0, 1), saved=kept),
    suspects=OF_MAE,
    cases=BOTH,
)

challenge = (of_huber, of_mae)

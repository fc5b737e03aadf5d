"""Extra: a + b in Gluon by TMA, mbarriers and programs that stay; at 0.75 of a copy's speed."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF, SINGLE
from grader.datasheets import GPUS


def on_gpu(**sizes: Any) -> Case:
    return Case(
        gpu=True, **{"dtype": HALF, **sizes}
    )  # Gluon says what a GPU's threads do: nothing else runs it


def inputs(case: Case, draw) -> tuple[Tensor, Tensor]:
    """a and b; `b_layout` and the like make one of them differ from the case."""
    return tensor(case, draw, "a", case.m, case.n), tensor(case, draw, "b", case.m, case.n)


big = on_gpu(m=8192, n=8192)

challenge = Challenge(
    entry="add",
    inputs=inputs,
    reference=lambda a, b: a + b,
    suspects={
        "This is a + a: b is never added.": lambda a, b: a + a,
        "This is b + b: a is never added.": lambda a, b: b + b,
    },
    cases=[
        on_gpu(m=64, n=64),
        on_gpu(m=1, n=8),
        on_gpu(m=64, n=64, dtype=BRAIN),
        on_gpu(m=64, n=64, dtype=SINGLE),
        on_gpu(m=63, n=72),
        on_gpu(m=65, n=56, dtype=SINGLE),
        on_gpu(m=1, n=1000),
        on_gpu(m=1000, n=4, dtype=SINGLE),
        on_gpu(m=300, n=400, dtype=BRAIN),
        on_gpu(m=between(200, 300), n=600),
        # More tiles than an H200 has SMs: some programs have a second one, and then all have many.
        on_gpu(m=700, n=1000),
        on_gpu(m=1500, n=2000, dtype=BRAIN),
        on_gpu(m=3000, n=4000),
        on_gpu(m=2000, n=3004, dtype=SINGLE),
        on_gpu(m=100, n=200, layout="padded"),
        on_gpu(m=100, n=200, layout="padded", a_layout="contiguous", dtype=SINGLE),
        on_gpu(m=1500, n=2000, layout="padded", b_layout="contiguous", dtype=BRAIN),
        on_gpu(m=100, n=200, values="nan"),
        on_gpu(m=100, n=200, values="inf", dtype=SINGLE),
        on_gpu(m=100, n=200, values="heavy", dtype=BRAIN),
        on_gpu(m=100, n=200, values="integers", exact=True),
        on_gpu(m=1500, n=2000, calls=2),
    ],
    targets={big: GPUS["h200"], on_gpu(m=8192, n=8192, dtype=SINGLE): GPUS["h200"]},
    speed=Speed(big, moved=lambda a, b: 3 * a.nbytes, of_copy=0.75),
    memory=Memory(big),
    needs=(9, 0),
)

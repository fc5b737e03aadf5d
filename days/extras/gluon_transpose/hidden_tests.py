"""Extra: a transpose in Gluon, with a layout to read by and one to write by; at 0.6 of a copy's speed."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.datasheets import GPUS


def on_gpu(**sizes: Any) -> Case:
    return Case(
        gpu=True, **{"dtype": HALF, **sizes}
    )  # Gluon says what a GPU's threads do: nothing else runs it


def inputs(case: Case, draw) -> tuple[Tensor]:
    return (draw(case.m, case.n),)


big = on_gpu(m=8192, n=8192)

challenge = Challenge(
    entry="transpose",
    inputs=inputs,
    reference=lambda x: x.t().contiguous(),
    suspects={"x is copied, and not turned.": lambda x: x.reshape(x.shape[1], x.shape[0])},
    cases=[
        on_gpu(m=64, n=64),
        on_gpu(m=1, n=1),
        on_gpu(m=64, n=128, dtype=BRAIN),
        on_gpu(m=128, n=64),
        on_gpu(m=63, n=65),
        on_gpu(m=1, n=300),
        on_gpu(m=300, n=1, dtype=BRAIN),
        on_gpu(m=between(130, 190), n=between(200, 250)),
        on_gpu(m=1000, n=777, dtype=BRAIN),
        on_gpu(m=100, n=200, layout="sliced"),
        on_gpu(m=100, n=200, layout="padded", dtype=BRAIN),
        on_gpu(m=100, n=200, layout="offset"),
        on_gpu(m=100, n=200, values="nan"),
        on_gpu(m=100, n=200, calls=2),
    ],
    targets={big: GPUS["h200"]},
    speed=Speed(big, moved=lambda x: 2 * x.nbytes, of_copy=0.6),
    memory=Memory(big),
    needs=(9, 0),
)

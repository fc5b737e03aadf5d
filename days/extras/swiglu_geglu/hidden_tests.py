"""Extra: SwiGLU and GeGLU; forward at 0.70 of a plain copy of three matrices, backward at 0.72 of five."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import gelu, silu

from grader.challenge import Case, Challenge, Gradients, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import OF_GEGLU, OF_SWIGLU


def inputs(case: Case, draw) -> tuple[Tensor, Tensor]:
    """gate and up; `up_layout` and `up_values` make them unlike each other."""
    return draw(case.rows, case.cols), tensor(case, draw, "up", case.rows, case.cols)


def kept(gate: Tensor, up: Tensor) -> int:
    return 2 * gate.numel() * gate.element_size()


wide = Case(rows=8192, cols=11008, dtype=BRAIN, gpu=True)

BARS = [
    Speed(wide, moved=lambda gate, up: 3 * gate.nbytes, of_copy=0.70),
    Speed(wide, moved=lambda gate, up: 5 * gate.nbytes, of_copy=0.72, part="backward"),
]

# What both are tried on.
BOTH = [
    Case(rows=3, cols=8),
    Case(rows=1, cols=1),
    Case(rows=0, cols=8),
    Case(rows=300, cols=1),
    Case(rows=between(18, 31), cols=between(114, 127)),
    Case(rows=48, cols=112),
    Case(rows=96, cols=96),
    Case(rows=5, cols=1023),
    Case(rows=3, cols=1025),
    Case(rows=9, cols=100, dtype=HALF),
    Case(rows=48, cols=112, dtype=HALF),
    Case(rows=96, cols=96, dtype=HALF),
    Case(rows=9, cols=100, dtype=BRAIN),
    Case(rows=6, cols=50, layout="sliced", up_layout="contiguous"),
    Case(rows=6, cols=56, layout="padded", dtype=HALF),
    Case(rows=6, cols=50, layout="contiguous", up_layout="sliced", dtype=HALF),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=7, cols=30, layout="expanded", up_layout="sliced"),
    Case(rows=5, cols=70, values="large", up_values="normal"),
    Case(rows=5, cols=70, values="heavy"),
    Case(rows=5, cols=77, values="inf", up_values="normal"),
    Case(rows=5, cols=77, values="nan", up_values="normal"),
    Case(rows=5, cols=60, upstream="sliced"),
    Case(rows=6, cols=33, upstream="transposed"),
    Case(rows=6, cols=33, upstream="transposed", dtype=BRAIN),
    Case(rows=9, cols=40, upstream="expanded"),
    Case(rows=9, cols=40, upstream="scalar"),
    Case(rows=7, cols=40, calls=2),
    Case(rows=5, cols=24, alone=0),
    Case(rows=5, cols=24, alone=1),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=185_001, cols=16_379, dtype=HALF, upstream="transposed", huge=True),
    Case(rows=2100, cols=9, layout="far", upstream="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=5),
    Case(rows=601, cols=501),
]

SWIGLU_ALONE = [
    Case(rows=33, cols=129),
    Case(rows=2, cols=4099),
    Case(rows=4, cols=1200, dtype=BRAIN),
    Case(rows=5, cols=64, layout="offset", dtype=BRAIN),
    Case(rows=5, cols=70, values="large", up_values="normal", dtype=HALF),
    Case(rows=5, cols=70, values="negative"),
    Case(rows=5, cols=70, values="zeros", up_values="normal"),
    Case(rows=5, cols=77, values="minus_inf", up_values="normal"),
    Case(rows=5, cols=60, upstream="offset", dtype=HALF),
]

swiglu = Challenge(
    entry="swiglu",
    inputs=inputs,
    reference=lambda gate, up: silu(gate) * up,
    rowwise=True,
    gradients=Gradients(of=(0, 1), saved=kept),
    suspects=OF_SWIGLU,
    cases=[*BOTH, *SWIGLU_ALONE],
    speed=BARS,
    memory=Memory(wide),
)

geglu = Challenge(
    entry="geglu",
    inputs=inputs,
    reference=lambda gate, up: gelu(gate, approximate="tanh") * up,
    rowwise=True,
    gradients=Gradients(of=(0, 1), saved=kept),
    suspects=OF_GEGLU,
    cases=BOTH,
    speed=BARS,
)

challenge = (swiglu, geglu)

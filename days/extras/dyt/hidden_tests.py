"""Extra: dynamic tanh, tanh in the place of a norm; forward at 0.70 of a plain copy, backward at 0.35."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x, alpha[1], weight, bias; alpha is 0.5 unless the case says otherwise.

    With `apart` no x is near 0, where tanh by a sigmoid has few digits and no larger x hides it. With
    `one_sign` no x and no weight is negative: under a gradient that is the same everywhere nothing cancels in
    that of alpha, which sums over all elements.
    """
    x, weight, bias = draw(case.rows, case.cols), *(vector(case, draw, case.cols, "normal") for _ in range(2))
    if "apart" in case:
        x += 0.5 * x.sign()
    if "one_sign" in case:
        x.abs_()
        weight.abs_()
    return x, vector(case, draw, 1, "normal").fill_(case.get("alpha", 0.5)), weight, bias


def reference(x: Tensor, alpha: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The formula in fp32 or wider, rounded once.

    Source: Zhu et al., Transformers without Normalization (2025, arXiv:2503.10622).
    """
    wide = [each.to(torch.promote_types(x.dtype, torch.float32)) for each in (x, alpha, weight, bias)]
    return (wide[2] * torch.tanh(wide[1] * wide[0]) + wide[3]).to(x.dtype)


def plain(x: Tensor, alpha: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """What someone with torch alone would write."""
    return weight * torch.tanh(alpha * x) + bias


def kept(x: Tensor, alpha: Tensor, weight: Tensor, bias: Tensor) -> int:
    return x.numel() * x.element_size() + weight.nbytes + alpha.nbytes


wide = Case(rows=16384, cols=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(rows=3, cols=8),
    Case(rows=1, cols=1, apart=True),
    Case(rows=5, cols=1, apart=True),
    Case(rows=0, cols=8),
    Case(rows=1, cols=33),
    Case(rows=2, cols=7),
    Case(rows=4, cols=127),
    Case(rows=3, cols=128),
    Case(rows=3, cols=129),
    Case(rows=19, cols=40),
    Case(rows=21, cols=40, alpha=-0.7, one_sign=True, upstream="scalar"),
    Case(rows=19, cols=40, alpha=0.0),
    Case(rows=6, cols=50, alpha=4.0),
    Case(rows=139, cols=65),
    Case(rows=5, cols=1025),
    Case(rows=2, cols=between(4097, 4400)),
    Case(rows=2, cols=16384),
    Case(rows=7, cols=100, dtype=HALF),
    Case(rows=7, cols=100, dtype=BRAIN),
    Case(rows=6, cols=60, dtype=BRAIN, alpha=-2.0),
    Case(rows=110, cols=24, dtype=HALF),
    Case(rows=112, cols=48, dtype=HALF),
    Case(rows=96, cols=96, dtype=HALF),
    Case(rows=4, cols=50, layout="sliced"),
    Case(rows=4, cols=56, layout="padded", dtype=HALF),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=5, cols=64, layout="offset", dtype=BRAIN),
    Case(rows=6, cols=50, layout="expanded"),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=70, values="large", alpha=-0.7),
    Case(rows=5, cols=70, values="large", dtype=HALF),
    Case(rows=5, cols=70, values="heavy"),
    Case(rows=5, cols=70, values="negative"),
    Case(rows=5, cols=64, values="zeros"),
    Case(rows=5, cols=77, values="inf"),
    Case(rows=5, cols=77, values="nan"),
    Case(rows=5, cols=60, upstream="sliced"),
    Case(rows=6, cols=33, upstream="transposed"),
    Case(rows=6, cols=33, upstream="transposed", dtype=BRAIN),
    Case(rows=5, cols=60, upstream="offset", dtype=HALF),
    Case(rows=9, cols=40, upstream="expanded"),
    Case(rows=9, cols=40, upstream="scalar"),
    Case(rows=7, cols=40, calls=2),
    Case(rows=5, cols=24, alone=0),
    Case(rows=5, cols=24, alone=1),
    Case(rows=5, cols=24, alone=2),
    Case(rows=5, cols=24, alone=3),
    Case(rows=20_011, cols=128, dtype=HALF, gpu=True),
    Case(rows=20_011, cols=128, dtype=BRAIN, upstream="scalar", gpu=True),
    Case(rows=170_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=170_001, cols=16_379, dtype=HALF, upstream="transposed", huge=True),
    Case(rows=2100, cols=50, layout="far", upstream="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=1051, cols=40),
]

challenge = Challenge(
    entry="dyt",
    inputs=inputs,
    reference=reference,
    reduces=lambda case: case.rows * case.cols,
    no_host_reads=True,
    gradients=Gradients(of=(0, 1, 2, 3), saved=kept),
    suspects=SUSPECTS,
    shown=Case(rows=19, cols=40),
    cases=CASES,
    speed=[
        Speed(wide, moved=lambda x, *_: 2 * x.nbytes, torch=plain, of_copy=0.70),
        Speed(wide, moved=lambda x, *_: 3 * x.nbytes, torch=plain, of_copy=0.35, part="backward"),
    ],
    memory=Memory(wide),
)

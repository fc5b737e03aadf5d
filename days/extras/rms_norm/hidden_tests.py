"""Extra: RMS norm with Llama's or Gemma's weight; forward at 0.60 of a plain copy, backward at 0.35."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import rms_norm as of_torch

from grader.challenge import Case, Challenge, Gradients, Memory, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, float, float]:
    """x, weight, eps, offset. `mean=30` lies far from 0, `thin=0.01` makes rows so flat that eps decides.

    Weights beside an offset are small, as Gemma's are. A row of one element has nearly no gradient unless
    eps is large: what remains would be rounding alone. `halfway` between two numbers of fp16 lies 1 + weight.
    """
    x, weight = draw(case.rows, case.cols), vector(case, draw, case.cols, "normal")
    offset = case.get("offset", 0.0)
    if "mean" in case:
        x += case.mean
    if "thin" in case:
        x *= case.thin
    if offset:
        weight *= 0.1
    if "halfway" in case:
        weight.copy_((2 * draw.integers(case.cols, low=0, high=8) + 1) / 2048)
    return x, weight, case.get("eps", 1e-6), offset


def reference(x: Tensor, weight: Tensor, eps: float, offset: float) -> Tensor:
    """The formula in fp32 or wider. Of 16 bits x̂ is rounded first, as in Llama's code: a looser yardstick."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    rstd = (wide.square().mean(dim=1, keepdim=True) + eps).rsqrt()
    x_hat = wide * rstd if offset else (wide * rstd).to(x.dtype)
    return (x_hat * (offset + weight.to(wide.dtype))).to(x.dtype)


def plain(x: Tensor, weight: Tensor, eps: float, offset: float) -> Tensor:
    """What someone with torch alone would call."""
    return of_torch(x, x.shape[1:], offset + weight, eps)


wide = Case(rows=16384, cols=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(rows=3, cols=8),
    Case(rows=1, cols=1, eps=0.25),
    Case(rows=5, cols=1, eps=0.25),
    Case(rows=0, cols=8),
    Case(rows=1, cols=33),
    Case(rows=2, cols=7),
    Case(rows=4, cols=127),
    Case(rows=3, cols=128),
    Case(rows=3, cols=129),
    Case(rows=19, cols=40),
    Case(rows=19, cols=40, offset=1.0),
    Case(rows=139, cols=65),
    Case(rows=5, cols=between(700, 800)),
    Case(rows=3, cols=1025, offset=1.0),
    Case(rows=2, cols=4099),
    Case(rows=2, cols=16384),
    Case(rows=7, cols=100, dtype=HALF),
    Case(rows=7, cols=100, dtype=HALF, offset=1.0),
    Case(rows=7, cols=100, dtype=BRAIN),
    Case(rows=7, cols=100, dtype=BRAIN, offset=1.0),
    Case(rows=7, cols=100, dtype=HALF, offset=1.0, halfway=True),
    Case(rows=110, cols=24, dtype=HALF),
    Case(rows=112, cols=48, dtype=HALF),
    Case(rows=96, cols=96, dtype=HALF),
    Case(rows=7, cols=60, eps=0.25),
    Case(rows=7, cols=60, eps=1e-3, thin=0.01),
    Case(rows=7, cols=60, eps=1e-10, thin=1e-4),
    Case(rows=6, cols=200, mean=30),
    Case(rows=6, cols=200, mean=300, dtype=HALF),
    Case(rows=4, cols=50, layout="sliced"),
    Case(rows=4, cols=56, layout="padded", dtype=HALF, offset=1.0),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=5, cols=64, layout="offset", dtype=BRAIN),
    Case(rows=6, cols=50, layout="expanded"),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=70, values="large", dtype=HALF),
    Case(rows=5, cols=70, values="heavy"),
    Case(rows=5, cols=70, values="negative"),
    Case(rows=5, cols=64, values="zeros", eps=1e-4),
    Case(rows=5, cols=77, values="spike"),
    Case(rows=5, cols=77, values="inf"),
    Case(rows=5, cols=77, values="nan"),
    Case(rows=5, cols=60, upstream="sliced"),
    Case(rows=6, cols=33, upstream="transposed"),
    Case(rows=6, cols=33, upstream="transposed", dtype=BRAIN),
    Case(rows=5, cols=60, upstream="offset", dtype=HALF),
    Case(rows=9, cols=40, upstream="expanded"),
    Case(rows=9, cols=40, upstream="scalar", offset=1.0),
    Case(rows=7, cols=40, calls=2),
    Case(rows=5, cols=24, alone=0),
    Case(rows=5, cols=24, alone=1),
    Case(rows=20_011, cols=128, dtype=HALF, gpu=True),
    Case(rows=20_011, cols=128, dtype=BRAIN, upstream="scalar", gpu=True),
    Case(rows=16, cols=16384, offset=1.0, gpu=True),
    Case(rows=170_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=170_001, cols=16_379, dtype=HALF, upstream="transposed", huge=True),
    Case(rows=2100, cols=50, layout="far", upstream="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=1101, cols=5),
]

challenge = Challenge(
    entry="rms_norm",
    inputs=inputs,
    reference=reference,
    gradients=Gradients(of=(0, 1), saved=lambda x, weight, *_: _bytes(x) + weight.nbytes + 4 * len(x)),
    suspects=SUSPECTS,
    shown=Case(rows=19, cols=40),
    pieces=(  # the results are y and the gradients of x and weight
        Piece("reads of x", "forward_kernel", by="loads", reads=("x_ptr",)),
        Piece("y", "forward_kernel", results=(0,)),
        Piece("what backward reads", "forward_kernel", results=(1, 2)),
        Piece("dx", "backward_kernel", results=(1,)),
        Piece("partial sums", "backward_kernel", results=(2,)),
        Piece("column sums", "column_sum_kernel", results=(2,)),
    ),
    cases=CASES,
    speed=[
        Speed(wide, moved=lambda x, *_: 2 * x.nbytes, torch=plain, of_copy=0.60),
        Speed(wide, moved=lambda x, *_: 3 * x.nbytes, torch=plain, of_copy=0.35, part="backward"),
    ],
    memory=Memory(wide, extra=lambda x, *_: 16 * len(x)),
)


def _bytes(x: Tensor) -> int:
    return x.numel() * x.element_size()

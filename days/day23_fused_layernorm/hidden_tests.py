"""Day 23: layer norm of x + residual, in one kernel, with a backward pass that is faster than torch's."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Memory, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.layer_norm import add_layer_norm, layer_norm

from .suspects import SUSPECTS

Outputs = tuple[Tensor, Tensor]


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor, float]:
    """x, residual, weight, bias, eps.

    `residual_layout` makes the residual lie in another way than x. Rows of `mean=50` are far from 0,
    `thin=True` makes them so flat that eps decides.
    """
    x = draw(case.rows, case.cols)
    residual = tensor(case, draw, "residual", case.rows, case.cols)
    weight, bias = (draw(case.cols, layout="contiguous", values="normal") for _ in range(2))
    if "mean" in case:
        x += case.mean
    if "thin" in case:
        x *= 0.01
        residual *= 0.01
    return x, residual, weight, bias, case.get("eps", 1e-5)


def reference(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Outputs:
    """`add_layer_norm` with sums in fp32: on a CPU torch sums up the gradients of fp16 weights in fp16."""
    wide = torch.promote_types(x.dtype, torch.float32)
    s = x + residual
    y = layer_norm(s.to(wide), weight.to(wide), bias.to(wide), eps)
    return y.to(x.dtype), s


wide = Case(rows=16384, cols=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(rows=3, cols=8),
    Case(rows=1, cols=33),
    Case(rows=2, cols=7),
    Case(rows=0, cols=8),
    Case(rows=4, cols=15),
    Case(rows=4, cols=16),
    Case(rows=4, cols=17),
    Case(rows=3, cols=127),
    Case(rows=3, cols=128),
    Case(rows=3, cols=129),
    Case(rows=19, cols=40),
    Case(rows=5, cols=between(700, 800)),
    Case(rows=3, cols=1025),
    Case(rows=2, cols=2003),
    Case(rows=2, cols=8192),
    Case(rows=7, cols=100, dtype=HALF),
    Case(rows=7, cols=100, dtype=BRAIN),
    Case(rows=110, cols=24, dtype=HALF),
    Case(rows=139, cols=48, dtype=HALF),
    Case(rows=96, cols=96, dtype=HALF),
    Case(rows=7, cols=60, eps=0.25),
    Case(rows=7, cols=60, eps=1e-3, thin=True),
    Case(rows=6, cols=200, mean=50),
    Case(rows=3, cols=8187, mean=7, dtype=HALF),
    Case(rows=4, cols=50, layout="sliced"),
    Case(rows=4, cols=50, layout="sliced", residual_layout="contiguous", dtype=HALF),
    Case(rows=4, cols=56, layout="padded", dtype=HALF),
    Case(rows=4, cols=50, layout="contiguous", residual_layout="sliced"),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=6, cols=50, layout="expanded", residual_layout="contiguous"),
    Case(rows=5, cols=128, values="constant", eps=1.0),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=70, values="heavy"),
    Case(rows=5, cols=70, values="negative"),
    Case(rows=5, cols=77, values="spike"),
    Case(rows=5, cols=77, values="integers"),
    Case(rows=5, cols=60, upstream="sliced"),
    Case(rows=6, cols=33, upstream="transposed"),
    Case(rows=6, cols=33, upstream="transposed", dtype=BRAIN),
    Case(rows=5, cols=60, upstream="strided"),
    Case(rows=5, cols=60, upstream="offset", dtype=HALF),
    Case(rows=9, cols=40, upstream="expanded"),
    Case(rows=9, cols=40, upstream="broadcast"),
    Case(rows=9, cols=40, upstream="scalar"),
    Case(rows=9, cols=40, upstream="first"),
    Case(rows=9, cols=40, upstream="last"),
    Case(rows=9, cols=40, upstream="unlike"),
    Case(rows=7, cols=40, calls=2),
    *(Case(rows=5, cols=24, alone=which) for which in range(4)),
    # More rows than a GPU has programs at once: here a program owns several.
    Case(rows=8209, cols=8, gpu=True),
    # No shorter ones: of 100,003 rows of 24 one was, in one draw of 54, further off than twice torch's.
    Case(rows=20_011, cols=128, dtype=HALF, gpu=True),
    Case(rows=20_011, cols=128, dtype=BRAIN, upstream="scalar", gpu=True),
    Case(rows=16, cols=8192, gpu=True),
    Case(rows=340_001, cols=8187, dtype=HALF, huge=True),
    Case(rows=340_001, cols=8187, dtype=HALF, upstream="transposed", huge=True),
    Case(rows=2100, cols=9, layout="far", upstream="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=601, cols=5),
]

challenge = Challenge(
    entry="add_layer_norm",
    inputs=inputs,
    reference=reference,
    gradients=Gradients(
        of=(0, 1, 2, 3),
        saved=lambda x, residual, weight, bias, eps: (
            x.numel() * x.element_size() + weight.nbytes + 8 * len(x)
        ),
    ),
    suspects=SUSPECTS,
    shown=Case(rows=19, cols=40),
    pieces=(  # the results are y, s and the gradients of x, residual, weight and bias
        Piece("reads of x and residual", "forward_kernel", by="loads", reads=("x_ptr", "residual_ptr")),
        Piece("s", "forward_kernel", results=(1,)),
        Piece("y", "forward_kernel", results=(0,)),
        Piece("what backward reads", "forward_kernel", results=(2, 3, 4, 5)),
        Piece("dx", "backward_kernel", results=(2, 3)),
        Piece("partial sums", "backward_kernel", results=(4, 5)),
        Piece("column sums", "column_sum_kernel", results=(4, 5)),
    ),
    cases=CASES,
    speed=[
        Speed(wide, moved=lambda x, *_: 4 * x.nbytes, torch=add_layer_norm, of_copy=0.60),
        Speed(wide, moved=lambda x, *_: 4 * x.nbytes, torch=add_layer_norm, of_torch=0.35, part="backward"),
    ],
    memory=Memory(wide, extra=lambda x, *_: 8 * len(x)),
)

"""Day 15: a @ x for a matrix and a vector of any strides, at 0.65 of the rate at which memory is read."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Own, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import HALF
from grader.challenge.formulas.matmul import overflow

COLUMN = Own("column")


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """a and x; `a_layout` and `x_values` make them differ, `overflows` lets sums leave fp16 and come back.

    Where x is COLUMN it is wide[:, 0] of a matrix whose rows lie a million elements apart.
    """
    a = tensor(case, draw, "a", case.m, case.n)
    if case.get("x_layout") == COLUMN:
        x = draw(case.n, 1, layout="far")[:, 0]
    else:
        x = tensor(case, draw, "x", case.n)
    if "overflows" in case:
        overflow(a, x)
    return a, x


big = Case(m=8192, n=8192, gpu=True)

PIECES = (
    Piece("reads of a and x", "matvec_kernel", by="loads", reads=("a_ptr", "x_ptr")),
    Piece("stores of y", "matvec_kernel", by="stores"),
    Piece("bounds", "matvec_kernel", by="bounds"),
    Piece("sums", "matvec_kernel", by="values"),
    Piece("launcher", "matvec"),
)

CASES = [
    Case(m=4, n=8),
    Case(m=1, n=1),
    Case(m=0, n=8),
    Case(m=8, n=0),
    Case(m=1, n=300),
    Case(m=50, n=1),
    Case(m=3, n=5),
    Case(m=15, n=17),
    Case(m=17, n=15),
    Case(m=16, n=128),
    Case(m=48, n=144),
    Case(m=96, n=160),
    Case(m=31, n=129),
    Case(m=33, n=127),
    Case(m=9, n=255),
    Case(m=8, n=257),
    Case(m=5, n=1023),
    Case(m=4, n=2048),
    Case(m=3, n=4099),
    Case(m=2, n=10007),
    Case(m=between(66, 79), n=between(18, 31)),
    Case(m=20, n=100, dtype=HALF),
    Case(m=7, n=515, dtype=HALF),
    Case(m=64, n=5000, dtype=HALF),
    Case(m=6, n=512, values="negative", overflows=True, dtype=HALF),
    Case(m=3, n=8192, values="negative", overflows=True, dtype=HALF),
    Case(m=30, n=200, layout="transposed"),
    Case(m=67, n=300, layout="columns"),
    Case(m=50, n=70, layout="columns", dtype=HALF),
    Case(m=1000, n=30, layout="transposed"),
    Case(m=1000, n=40, layout="transposed", dtype=HALF),
    Case(m=11, n=72, layout="padded", dtype=HALF),
    Case(m=10, n=200, layout="strided"),
    Case(m=11, n=41, layout="strided", dtype=HALF),
    Case(m=10, n=200, layout="sliced"),
    Case(m=11, n=65, layout="offset"),
    Case(m=40, n=64, layout="expanded"),
    # Sides of 1, whose strides are not those of a packed matrix.
    Case(m=1, n=70, layout="columns"),
    Case(m=70, n=1, layout="sliced"),
    Case(m=9, n=70, layout="strided", a_layout="contiguous"),
    Case(m=9, n=70, layout="expanded", a_layout="contiguous"),
    Case(m=9, n=70, layout="broadcast"),
    Case(m=70, n=33, layout="offset", a_layout="transposed"),
    Case(m=11, n=300, values="integers", exact=True),
    Case(m=40, n=70, layout="transposed", values="integers", exact=True),
    Case(m=11, n=30, values="integers", dtype=HALF, exact=True),
    Case(m=12, n=70, values="constant"),
    Case(m=3, n=5000, values="constant", dtype=HALF),
    Case(m=10, n=100, x_values="zeros"),
    Case(m=10, n=100, values="spike"),
    Case(m=10, n=100, values="heavy"),
    Case(m=10, n=100, values="large"),
    Case(m=10, n=100, values="large", dtype=HALF),
    Case(m=12, n=70, values="inf", x_values="normal"),
    Case(m=12, n=70, values="nan", x_values="normal"),
    # 0 · Inf is NaN, whichever of them is 0.
    Case(m=12, n=70, values="inf", x_values="zeros"),
    Case(m=12, n=70, values="signed_zeros", x_values="inf"),
    Case(m=10, n=50, calls=2),
    # More rows than the second axis of a grid has programs.
    Case(m=140_001, n=8, gpu=True, demand="grid_axes"),
    Case(m=185_001, n=16_379, dtype=HALF, huge=True),
    Case(m=185_001, n=16_379, dtype=HALF, layout="transposed", huge=True),
    Case(m=2100, n=9, layout="far", dtype=HALF, huge=True),
    Case(m=9, n=2100, x_layout=COLUMN, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=4301, n=5),
]

challenge = Challenge(
    entry="matvec",
    inputs=inputs,
    reference=lambda a, x: a @ x,
    reduces=lambda case: case.n,
    requires=("degenerate_sizes",),
    cases=CASES,
    suspects={
        "A product is left out where one factor is 0; 0 · Inf and 0 · NaN are NaN, and count.": lambda a, x: (
            torch.where((a == 0) | (x == 0), 0.0, a * x).sum(dim=1)
        )
    },
    pieces=PIECES,
    speed=Speed(big, moved=lambda a, x: a.nbytes, of_copy=0.65),
    memory=Memory(big),
)

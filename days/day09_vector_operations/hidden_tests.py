"""Day 09: GELU(x + bias), tanh form, fused: one read and one write, at 0.60 of a plain copy."""

from __future__ import annotations

import torch
from torch.nn.functional import gelu

from grader.challenge import Case, Challenge, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.stride_suspects import along_rows


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """x laid out as the case says, and a contiguous bias: one number a column, none like another.

    With `near`, x lies around that value, and x + bias is exact even in half precision. In one column the
    bias is 3, so that no row consists of a value where 1 + tanh z cancels.
    """
    if "near" in case:
        x, bias = draw(case.rows, case.cols, values="integers"), draw(case.cols, values="integers")
        return x.div_(8).add_(case.near), bias.div_(16)
    bias = vector(case, draw, case.cols, "normal" if case.cols > 1 else "constant")
    return draw(case.rows, case.cols), bias


def by_row(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Row i with bias[i], from the start again where there are more rows than columns."""
    return gelu(x + along_rows(bias, len(x)), approximate="tanh")


big = Case(rows=16384, cols=8192, dtype=HALF)

CASES = [
    Case(rows=3, cols=8),
    Case(rows=8, cols=5),
    Case(rows=1, cols=1),
    Case(rows=0, cols=8),
    Case(rows=1, cols=300),
    Case(rows=300, cols=1),
    Case(rows=16, cols=16),
    Case(rows=31, cols=127),
    Case(rows=48, cols=112),
    Case(rows=96, cols=96),
    Case(rows=32, cols=128),
    Case(rows=33, cols=129),
    Case(rows=131, cols=65),
    Case(rows=3, cols=1023),
    Case(rows=2, cols=1024),
    Case(rows=3, cols=1025),
    Case(rows=3, cols=4099),
    Case(rows=6, cols=100, near=-2.5, dtype=HALF),
    Case(rows=7, cols=100, near=-2.5, dtype=BRAIN),
    Case(rows=between(18, 31), cols=between(98, 111), dtype=HALF),
    Case(rows=20, cols=100, dtype=BRAIN),
    Case(rows=300, cols=20, dtype=HALF),
    Case(rows=20, cols=2048, dtype=HALF),
    Case(rows=4, cols=1200, dtype=HALF),
    Case(rows=4, cols=1200, dtype=BRAIN),
    Case(rows=9, cols=50, layout="sliced"),
    Case(rows=9, cols=200, layout="padded", dtype=HALF),
    Case(rows=6, cols=1027, layout="sliced"),
    Case(rows=12, cols=64, layout="offset"),
    Case(rows=12, cols=64, layout="offset", dtype=HALF),
    Case(rows=11, cols=70, layout="expanded"),
    Case(rows=10, cols=90, values="zeros"),
    Case(rows=10, cols=90, values="constant"),
    Case(rows=10, cols=90, values="negative"),
    Case(rows=10, cols=90, values="heavy"),
    Case(rows=10, cols=90, values="heavy", dtype=HALF),
    Case(rows=10, cols=90, values="spike"),
    Case(rows=10, cols=90, values="spike", dtype=HALF),
    Case(rows=10, cols=90, values="ramp", dtype=HALF),
    Case(rows=10, cols=90, values="large"),
    Case(rows=10, cols=90, values="large", dtype=HALF),
    Case(rows=10, cols=90, values="large", dtype=BRAIN),
    Case(rows=10, cols=90, values="integers"),
    Case(rows=10, cols=90, values="inf"),
    Case(rows=10, cols=90, values="nan"),
    Case(rows=10, cols=60, calls=2),
    # More rows than the second axis of a grid has programs.
    Case(rows=140_001, cols=8, gpu=True, demand="grid_axes"),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=1_100_001, cols=2003, dtype=HALF, huge=True),
    Case(rows=2100, cols=9, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=5),
    Case(rows=1501, cols=1001),
]

challenge = Challenge(
    entry="bias_gelu",
    inputs=inputs,
    reference=lambda x, bias: gelu(x + bias, approximate="tanh"),
    rowwise=True,
    requires=("degenerate_sizes",),
    shown=Case(rows=131, cols=65),
    cases=CASES,
    suspects={
        "The bias is left out: u is x + bias.": lambda x, bias: gelu(x, approximate="tanh"),
        "The bias is added along the wrong axis: it has one element for each column.": by_row,
        "The bias is added after the GELU; it belongs before it, to x.": lambda x, bias: (
            gelu(x, approximate="tanh") + bias
        ),
        "This is GELU by erf; the day asks for the tanh form, a few 1e-4 away.": lambda x, bias: gelu(
            x + bias
        ),
        "This is u · sigmoid(1.702 u), which is GELU by another formula; the day asks for the tanh form.": (
            lambda x, bias: (x + bias) * torch.sigmoid(1.702 * (x + bias))
        ),
        "The bias is subtracted.": lambda x, bias: gelu(x - bias, approximate="tanh"),
    },
    pieces=(
        Piece("gelu", "gelu"),
        Piece("reads of x and bias", "bias_gelu_kernel", by="loads", reads=("x_ptr", "bias_ptr")),
        Piece("stores of y", "bias_gelu_kernel", by="stores"),
        Piece("bounds", "bias_gelu_kernel", by="bounds"),
        Piece("values", "bias_gelu_kernel", by="values"),
        Piece("launcher", "bias_gelu"),
    ),
    speed=Speed(big, moved=lambda x, bias: 2 * x.nbytes + bias.nbytes, of_copy=0.60),
)

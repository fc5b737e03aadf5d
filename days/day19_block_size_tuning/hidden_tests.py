"""Day 19: relu(x @ w.T + b) in one kernel, every config right, at 0.55 of torch's linear and relu."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Speed, Tuner, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import overflow
from grader.challenge.formulas.stride_suspects import along_rows, swapped_strides


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x[m, k], w[n, k] and b[n], as the case's layout says; `x_layout`, … make one of them lie otherwise.

    With `overflows`, sums leave fp16 and come back; with `lifted` they are beyond fp16 until b is added.
    """
    sides = {"x": (case.m, case.k), "w": (case.n, case.k), "b": (case.n,)}
    x, w, b = (tensor(case, draw, which, *shape) for which, shape in sides.items())
    if "overflows" in case:
        overflow(x, w.mT)
    if "lifted" in case:
        x *= 70_000 / (x.float() @ w.float().mT).min()
        b.fill_(-50_000)
    return x, w, b


linear, relu = torch.nn.functional.linear, torch.relu


def by_row(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The bias of column i, modulo n, added to row i."""
    return relu(linear(x, w) + along_rows(b, len(x)))


def half(x: torch.Tensor) -> int:
    """Columns of x that are read in steps of 64 when each step reads 32."""
    return -(-x.shape[1] // 64) * 32


def moved(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> int:
    return x.nbytes + w.nbytes + b.nbytes + x.shape[0] * w.shape[0] * x.element_size()


# The first layer of an MLP for 16384 tokens: so little k that another pass over y would take a third more.
layer = Case(m=16384, n=4096, k=1024, dtype=HALF, gpu=True)

CASES = [
    Case(m=16, n=16, k=16),
    Case(m=48, n=48, k=48),
    Case(m=96, n=96, k=96, dtype=HALF),
    Case(m=16, n=16, k=16, dtype=HALF),
    Case(m=1, n=1, k=1, values="integers", exact=True),
    Case(m=0, n=8, k=4),
    Case(m=8, n=0, k=4),
    # Whole tiles along n, and more rows of tiles than a group has: too long a row leads elsewhere.
    Case(m=1088, n=256, k=16),
    Case(m=5, n=7, k=3),
    Case(m=1, n=100, k=40),
    Case(m=100, n=1, k=40, values="integers", exact=True),
    Case(m=31, n=33, k=65),
    Case(m=64, n=128, k=32),
    Case(m=129, n=130, k=31),
    Case(m=129, n=80, k=96, dtype=HALF),
    Case(m=139, n=20, k=20),
    Case(m=1030, n=140, k=20),
    Case(m=20, n=139, k=20),
    Case(m=20, n=20, k=20),
    Case(m=20, n=20, k=515),
    Case(m=between(33, 47), n=between(66, 79), k=between(49, 63)),
    Case(m=40, n=70, k=50, dtype=HALF),
    Case(m=40, n=70, k=50, dtype=BRAIN),
    Case(m=20, n=30, k=1003, dtype=HALF),
    Case(m=5, n=7, k=512, values="negative", overflows=True, dtype=HALF),
    Case(m=5, n=7, k=512, values="negative", lifted=True, dtype=HALF),
    Case(m=140, n=272, k=72, dtype=HALF),
    Case(m=261, n=264, k=40, dtype=BRAIN),
    Case(m=20, n=30, k=2001, dtype=BRAIN),
    Case(m=40, n=70, k=50, layout="transposed"),
    Case(m=40, n=70, k=50, layout="columns", x_layout="contiguous"),
    Case(m=40, n=70, k=50, layout="columns", w_layout="contiguous", dtype=HALF),
    Case(m=136, n=264, k=48, layout="padded", dtype=HALF),
    Case(m=40, n=70, k=50, layout="sliced", w_layout="strided"),
    Case(m=130, n=264, k=264, b_layout="strided", dtype=HALF),
    Case(m=40, n=70, k=50, layout="strided", x_layout="contiguous", w_layout="contiguous"),
    Case(m=40, n=70, k=50, layout="expanded", w_layout="contiguous"),
    Case(m=41, n=71, k=51, layout="offset", dtype=HALF),
    Case(m=40, n=70, k=50, values="integers", exact=True),
    Case(m=40, n=70, k=50, values="integers", dtype=HALF, exact=True),
    Case(m=40, n=70, k=50, values="constant"),
    Case(m=40, n=70, k=50, values="heavy"),
    Case(m=40, n=70, k=50, values="large"),
    Case(m=40, n=70, k=50, values="large", dtype=BRAIN),
    Case(m=40, n=70, k=50, values="inf"),
    Case(m=40, n=70, k=50, values="nan"),
    Case(m=40, n=70, k=50, calls=2),
    Case(m=85_001, n=32_771, k=67, dtype=HALF, huge=True),
    Case(m=2**20 + 5, n=9, k=4099, dtype=HALF, huge=True),
    Case(m=2**20 + 5, n=9, k=4099, dtype=HALF, layout="transposed", huge=True),
    Case(m=9, n=2**20 + 5, k=4099, dtype=HALF, huge=True),
    Case(m=9, n=2**20 + 5, k=4099, dtype=HALF, layout="transposed", huge=True),
    Case(m=2100, n=2100, k=9, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=700, n=500, k=20, dtype=HALF),
]

challenge = Challenge(
    entry="linear_relu",
    inputs=inputs,
    reference=lambda x, w, b: relu(linear(x, w, b)),
    suspects={
        "The bias is added after the relu, so negative values come out: add it to the sums first.": (
            lambda x, w, b: relu(linear(x, w)) + b
        ),
        "There is no relu: negative values come out.": lambda x, w, b: linear(x, w, b),
        "The loop over k steps by 64 in every config: with BLOCK_K = 32 half of the products are missing.": (
            lambda x, w, b: relu(linear(x[:, : half(x)], w[:, : half(x)], b))
        ),
        "The bias is missing.": lambda x, w, b: relu(linear(x, w)),
        "The bias goes along the wrong axis: b has one element for each column of the result.": by_row,
        "w is read with its two strides swapped, as if it were [k, n].": (
            lambda x, w, b: relu(linear(x, swapped_strides(w), b))
        ),
    },
    # fp16 and bf16 are summed in fp32 and rounded once, however long the sum.
    reduces=lambda case: case.k if case.dtype == torch.float32 else 1,
    shown=Case(m=140, n=272, k=72, dtype=HALF),
    cases=CASES,
    speed=Speed(
        layer,
        moved=moved,
        flops=lambda x, w, b: 2 * x.numel() * w.shape[0],
        of_torch=0.55,
    ),
    memory=Memory(layer),
    tuner=Tuner(key=("m", "n", "k")),
)

"""Extra: softmax for rows of any length, at most 16 compilations over 60 shapes, at 0.50 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Compilations, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

# 60 lengths: 1, what 16 divides, what it does not, and both sides of every power of two.
LENGTHS = [1, 2, 3, 5, 8, 13, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 160, 200, 255]
LENGTHS += [256, 257, 320, 384, 500, 511, 512, 513, 640, 777, 1000, 1023, 1024, 1025, 1280, 1536, 1999, 2047]
LENGTHS += [2048, 2049, 3072, 4000, 4095, 4096, 4097, 6144, 8000, 8191, 8192, 8193, 10000, 12288, 16000]
LENGTHS += [16368, 16383, 16384]
ROWS = 500, 1, 37, 16, 256, 0, 3  # 400,000 elements at most


def shape(number: int, cols: int) -> Case:
    """One of the 60; in every third one rows lie further apart than they are long."""
    layout = ("contiguous", "contiguous", "sliced")[number % 3]
    return Case(rows=min(ROWS[number % 7], max(400_000 // cols, 1)), cols=cols, layout=layout)


CASES = [
    Case(rows=4, cols=8),
    Case(rows=1, cols=1),
    Case(rows=5, cols=1),
    Case(rows=0, cols=8),
    Case(rows=2, cols=33),
    Case(rows=3, cols=127),
    Case(rows=3, cols=128),
    Case(rows=3, cols=129),
    Case(rows=17, cols=256),
    Case(rows=17, cols=257),
    Case(rows=500, cols=5),
    Case(rows=between(33, 47), cols=between(700, 800)),
    Case(rows=3, cols=1024),
    Case(rows=3, cols=1025),
    Case(rows=2, cols=2049),
    Case(rows=2, cols=4097),
    Case(rows=2, cols=8193),
    Case(rows=2, cols=16384),
    Case(rows=9, cols=100, dtype=HALF),
    Case(rows=9, cols=100, dtype=BRAIN),
    Case(rows=2, cols=10007, dtype=HALF),
    Case(rows=4, cols=20, layout="sliced"),
    Case(rows=7, cols=1025, layout="sliced"),
    Case(rows=7, cols=200, layout="padded", dtype=HALF),
    Case(rows=5, cols=64, layout="offset"),
    Case(rows=5, cols=70, values="large"),
    Case(rows=5, cols=300, values="heavy"),
    Case(rows=5, cols=300, values="negative"),
    Case(rows=5, cols=77, values="some_minus_inf", demand="values"),
    Case(rows=5, cols=77, values="nan"),
    Case(rows=4, cols=60, calls=2),
    Case(rows=3, cols=3000, calls=2),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
]


def moved(x: torch.Tensor) -> int:
    return 2 * x.nbytes


challenge = Challenge(
    entry="softmax",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: torch.softmax(x, dim=-1),
    rowwise=True,
    shown=Case(rows=9, cols=100, dtype=HALF),
    cases=CASES,
    suspects={
        "These are the logarithms of the right results.": lambda x: torch.log_softmax(x, dim=-1),
        "The weights are not divided by their sum.": lambda x: (x - x.amax(dim=-1, keepdim=True)).exp(),
        "The sum counts the lanes behind the row as if 0 stood there: they are to hold -inf.": (
            lambda x: padded(x, max(128, 1 << (x.shape[1] - 1).bit_length()))
        ),
    },
    compilations=Compilations([shape(number, cols) for number, cols in enumerate(LENGTHS)], most=16),
    speed=(
        Speed(Case(rows=32768, cols=1000, gpu=True), moved=moved, of_copy=0.50),
        Speed(Case(rows=4096, cols=5000, gpu=True), moved=moved, of_copy=0.50),
    ),
)


def padded(x: torch.Tensor, lanes: int) -> torch.Tensor:
    """The softmax of rows that zeros make as long as a bucket."""
    wide = torch.nn.functional.pad(x, (0, lanes - x.shape[1]))
    return torch.softmax(wide, dim=-1)[:, : x.shape[1]]

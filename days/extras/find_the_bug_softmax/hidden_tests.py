"""Extra find_the_bug_softmax: day 13's softmax with four bugs, which its demonstration does not see."""

from __future__ import annotations

import math

import torch

from grader.challenge import Bug, Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

big = Case(rows=16384, cols=8192, dtype=HALF, gpu=True)

# A power of two of columns, side by side, and several rows; then one row, of another length; and so on.
several = Case(rows=8, cols=64)
ragged = Case(rows=1, cols=781)
sliced = Case(rows=7, cols=64, layout="sliced")
shown = Case(rows=1, cols=1024)


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """x; row i moves by (i + 1) times `shift`."""
    x = draw(case.rows, case.cols)
    if "shift" in case:
        x += case.shift * torch.arange(1, case.rows + 1, dtype=x.dtype, device=x.device)[:, None]
    return (x,)


def with_the_next_row(x: torch.Tensor) -> torch.Tensor:
    """Each row's maximum and sum taken over the next power of two of elements, as they lie in memory."""
    m, n = x.shape
    block = 1 << (n - 1).bit_length()
    after = torch.cat([x.flatten(), x.new_full((block,), -math.inf)])
    return torch.exp(x - after.unfold(0, block, n)[:m].logsumexp(1, keepdim=True))


BUGS = [
    Bug(
        "the mask compares the place in the whole matrix with the length of a row",
        "a mask of another index than the one it bounds",
        witness=several,
        hides=["rows of the result are stored at the input's stride"],
    ),
    Bug(
        "lanes past the row load 0 and count in the maximum and the sum",
        "masked lanes that are not neutral",
        witness=ragged,
    ),
    Bug(
        "rows of the result are stored at the input's stride",
        "one tensor's stride used for another",
        witness=sliced,
    ),
    Bug(
        "the exponentials are parked in x, and the input is lost",
        "an input as scratch memory",
        witness=shown,
        shows="inputs",
    ),
]

challenge = Challenge(
    entry="softmax",
    inputs=inputs,
    reference=lambda x: torch.softmax(x, dim=-1),
    rowwise=True,
    suspects={
        "A row's maximum and sum take in the next row: the load's mask must end with this one's columns.": (
            with_the_next_row
        ),
    },
    bugs=BUGS,
    cases=[
        shown,
        several,
        ragged,
        Case(rows=1, cols=1),
        Case(rows=5, cols=1),
        Case(rows=0, cols=8),
        Case(rows=2, cols=33),
        Case(rows=2, cols=1040),
        Case(rows=2, cols=1056),
        Case(rows=3, cols=127),
        Case(rows=3, cols=129),
        Case(rows=31, cols=500),
        Case(rows=3, cols=1023),
        Case(rows=3, cols=1025),
        Case(rows=2, cols=between(4097, 5000)),
        Case(rows=2, cols=16384),
        Case(rows=9, cols=100, dtype=HALF),
        Case(rows=9, cols=128, dtype=BRAIN),
        Case(rows=2, cols=9973, dtype=HALF),
        sliced,
        Case(rows=5, cols=1025, layout="sliced"),
        Case(rows=7, cols=200, layout="sliced", dtype=HALF),
        Case(rows=5, cols=64, layout="offset"),
        Case(rows=6, cols=50, layout="expanded"),
        Case(rows=5, cols=70, values="large"),
        Case(rows=5, cols=70, values="large", dtype=HALF),
        Case(rows=5, cols=300, values="heavy"),
        Case(rows=5, cols=300, values="negative", shift=-1e4),
        Case(rows=3, cols=300, values="negative", shift=-1e30),
        Case(rows=5, cols=256, values="constant"),
        Case(rows=5, cols=77, values="spike"),
        Case(rows=5, cols=77, values="some_minus_inf", demand="values"),
        Case(rows=5, cols=77, values="minus_inf", demand="values"),
        Case(rows=5, cols=77, values="inf"),
        Case(rows=5, cols=77, values="nan"),
        Case(rows=4, cols=60, calls=2),
        Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
        Case(rows=2100, cols=64, layout="far", dtype=HALF, huge=True),
    ],
    speed=Speed(big, moved=lambda x: 2 * x.nbytes, of_copy=0.65),
    memory=Memory(big),
)

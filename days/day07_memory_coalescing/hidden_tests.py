"""Day 07: the transpose of a matrix of any strides, at 0.55 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Piece, Speed, between
from grader.challenge.formulas.dtypes import HALF, INT

big = Case(m=8192, n=8192, gpu=True)


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """x; of whole numbers some that no fp32 holds: a detour through one shows."""
    x = draw(case.m, case.n)
    return (x.mul_(3**15) if case.dtype == INT else x,)


PIECES = (
    Piece("reads of x", "transpose_kernel", by="loads", reads=("x_ptr",)),
    Piece("stores of y", "transpose_kernel", by="stores"),
    Piece("bounds", "transpose_kernel", by="bounds"),
    Piece("values", "transpose_kernel", by="values"),
    Piece("launcher", "transpose"),
)

# Walked: more than 2**31 elements, or as far apart; sides of more tiles than axes 1 and 2 take.
HUGE = [
    Case(m=2**28 + 7, n=1, huge=True),
    Case(m=1, n=2**28 + 7, huge=True),
    Case(m=85_001, n=32_771, dtype=HALF, huge=True),
    Case(m=85_001, n=32_771, dtype=HALF, layout="transposed", huge=True),
    Case(m=2100, n=9, dtype=HALF, layout="far", huge=True),
]

challenge = Challenge(
    entry="transpose",
    inputs=inputs,
    reference=lambda x: x.T.contiguous(),
    shown=Case(m=97, n=211),
    cases=[
        Case(m=4, n=8),
        Case(m=16, n=16),
        Case(m=1, n=1),
        Case(m=0, n=8),
        Case(m=8, n=0),
        Case(m=1, n=300),
        Case(m=300, n=1),
        Case(m=2, n=3),
        Case(m=64, n=64),
        Case(m=80, n=80),
        Case(m=96, n=96),
        Case(m=63, n=65),
        Case(m=65, n=63),
        Case(m=31, n=33),
        Case(m=128, n=256),
        Case(m=129, n=127),
        Case(m=97, n=211),
        Case(m=3, n=513),
        Case(m=513, n=3),
        Case(m=between(66, 79), n=between(130, 143), dtype=HALF),
        Case(m=140, n=71, dtype=HALF),
        Case(m=300, n=530, dtype=HALF),
        Case(m=40, n=70, dtype=INT, values="integers"),
        Case(m=40, n=70, values="integers", exact=True),
        Case(m=70, n=40, values="integers", dtype=HALF, exact=True),
        Case(m=40, n=70, values="ramp", exact=True),
        Case(m=33, n=70, layout="sliced"),
        Case(m=72, n=40, layout="padded", dtype=HALF),
        Case(m=33, n=70, layout="columns"),
        Case(m=64, n=64, layout="transposed"),
        Case(m=33, n=70, layout="strided"),
        Case(m=33, n=71, layout="offset"),
        Case(m=33, n=70, layout="expanded"),
        Case(m=33, n=70, layout="broadcast"),
        Case(m=1, n=90, layout="sliced"),
        Case(m=90, n=1, layout="sliced"),
        Case(m=30, n=50, values="constant"),
        Case(m=30, n=50, values="spike"),
        # More tiles than a GPU has multiprocessors: a program may have several of them to visit.
        Case(m=521, n=1103, values="heavy"),
        Case(m=30, n=50, values="large", dtype=HALF),
        Case(m=30, n=50, values="inf"),
        Case(m=30, n=50, values="nan"),
        Case(m=50, n=30, calls=2),
        Case(m=2**23 + 5, n=1, gpu=True, demand="grid_axes"),
        Case(m=1, n=2**23 + 5, gpu=True, demand="grid_axes"),
        *HUGE,
        # Large enough that a fixed number of programs has several tiles each.
        Case(m=1501, n=1001),
    ],
    pieces=PIECES,
    speed=Speed(big, moved=lambda x: 2 * x.nbytes, of_copy=0.55),
    memory=Memory(big),
)

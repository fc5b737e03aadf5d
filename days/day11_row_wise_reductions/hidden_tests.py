"""Day 11: mean, max and argmax of every row by one read of the matrix, at 0.60 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Piece, Speed, between
from grader.challenge.formulas.dtypes import HALF
from grader.challenge.formulas.reductions import row_stats

from .suspects import SUSPECTS


def moved(x: torch.Tensor) -> int:
    """x is read; a mean (4 bytes), a max and an argmax (8 bytes) of each row are written."""
    return x.nbytes + len(x) * (4 + x.element_size() + 8)


wide = Case(rows=8192, cols=8192)
narrow = Case(rows=2**22, cols=16, gpu=True)

PIECES = (
    Piece("reads of x", "row_stats_kernel", by="loads", reads=("x_ptr",)),
    Piece("mean", "row_stats_kernel", results=(0,)),
    Piece("max", "row_stats_kernel", results=(1,)),
    Piece("argmax", "row_stats_kernel", results=(2,)),
    Piece("bounds", "row_stats_kernel", by="bounds"),
    Piece("launcher", "row_stats"),
)

CASES = [
    Case(rows=3, cols=8),
    Case(rows=1, cols=1),
    Case(rows=9, cols=1),
    Case(rows=120, cols=3),
    Case(rows=0, cols=8),
    Case(rows=64, cols=64),
    Case(rows=80, cols=80),
    Case(rows=96, cols=96),
    Case(rows=63, cols=65),
    Case(rows=257, cols=16),
    Case(rows=131, cols=33),
    Case(rows=5, cols=127),
    Case(rows=5, cols=between(700, 800)),
    Case(rows=5, cols=1023),
    Case(rows=5, cols=1024),
    Case(rows=5, cols=1025),
    Case(rows=3, cols=4099),
    Case(rows=3, cols=8191),
    Case(rows=3, cols=8193),
    Case(rows=2, cols=40009),
    Case(rows=1, cols=70001),
    Case(rows=20, cols=100, dtype=HALF),
    Case(rows=3, cols=9001, dtype=HALF),
    Case(rows=9, cols=50, layout="sliced"),
    Case(rows=9, cols=200, layout="padded", dtype=HALF),
    Case(rows=3, cols=9001, layout="sliced"),
    Case(rows=12, cols=60, layout="offset"),
    Case(rows=12, cols=60, layout="expanded"),
    Case(rows=9, cols=70, values="negative"),
    Case(rows=9, cols=70, values="negative", dtype=HALF),
    Case(rows=3, cols=9001, values="negative"),
    Case(rows=9, cols=70, values="ties"),
    Case(rows=3, cols=20011, values="ties"),
    Case(rows=9, cols=64, values="constant", exact=True),
    Case(rows=2, cols=20011, values="constant"),
    Case(rows=30, cols=20, values="signed_zeros"),
    Case(rows=40, cols=64, values="integers", exact=True),
    Case(rows=40, cols=128, values="integers", dtype=HALF, exact=True),
    Case(rows=3, cols=16384, values="integers", exact=True),
    Case(rows=9, cols=77, values="spike"),
    Case(rows=1, cols=70001, values="spike"),  # the last column is past what 16 bits count
    Case(rows=3, cols=10007, values="rising"),
    Case(rows=9, cols=77, values="heavy"),
    Case(rows=9, cols=77, values="large"),
    Case(rows=2, cols=30011, values="constant", dtype=HALF),
    Case(rows=9, cols=77, values="minus_inf", demand="values"),
    Case(rows=3, cols=9001, values="minus_inf", demand="values"),
    Case(rows=9, cols=77, values="inf"),
    Case(rows=10, cols=60, calls=2),
    # More rows than the second axis of a grid has programs.
    Case(rows=140_001, cols=8, gpu=True, demand="grid_axes"),
    Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
    Case(rows=60_000_001, cols=37, huge=True),
    Case(rows=2100, cols=9, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=5),
]

challenge = Challenge(
    entry="row_stats",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=row_stats,
    requires=("degenerate_sizes",),
    reduces=lambda case: case.cols,
    shown=Case(rows=131, cols=33),
    cases=CASES,
    suspects=SUSPECTS,
    pieces=PIECES,
    speed=(Speed(wide, moved=moved, of_copy=0.60), Speed(narrow, moved=moved, of_copy=0.60, sweep=("rows",))),
    memory=Memory(narrow),
)

"""Day 02: y[i] = x[start + i * step] for a vector of any stride and dtype, by one program."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, between
from grader.challenge.formulas.dtypes import BRAIN, BYTE, DOUBLE, HALF, INT, LONG, SHORT

WIDE = {DOUBLE: 3**25, LONG: 3**25, INT: 3**15}  # no float of half the width holds it: a detour shows


def inputs(case: Case, draw) -> tuple[torch.Tensor, int, int, int]:
    """x and the walk over it; with `columns`, x is a column of a matrix that wide."""
    columns = case.get("columns")
    x = draw(columns, case.n)[1] if columns else draw(case.n)
    if case.dtype in WIDE:
        x *= WIDE[case.dtype]
    return x, case.start, case.step, case.count


def reference(x: torch.Tensor, start: int, step: int, count: int) -> torch.Tensor:
    return x[start + step * torch.arange(count, device=x.device)]


challenge = Challenge(
    entry="gather_strided",
    inputs=inputs,
    reference=reference,
    cases=[
        Case(n=8, start=0, step=1, count=8),
        Case(n=8, start=2, step=1, count=4),
        Case(n=8, start=1, step=2, count=4),
        Case(n=8, start=7, step=-1, count=8),
        Case(n=9, start=4, step=0, count=8),
        Case(n=3, start=1, step=0, count=16, values="negative"),
        Case(n=1, start=0, step=1, count=1),
        Case(n=7, start=5, step=-100, count=1),
        Case(n=23, start=20, step=-5, count=4),
        Case(n=127, start=0, step=2, count=64),
        Case(n=between(1040, 1300), start=between(1, 9), step=1, count=1024),
        Case(n=4096, start=0, step=1, count=4096),
        Case(n=4096, start=4095, step=-1, count=4096),
        Case(n=12289, start=3, step=3, count=4096),
        Case(n=60, start=2, step=7, count=8, dtype=HALF),
        Case(n=60, start=2, step=7, count=8, dtype=BRAIN),
        Case(n=60, start=57, step=-7, count=8, dtype=DOUBLE),
        Case(n=60, start=2, step=3, count=16, dtype=BYTE, values="integers"),
        Case(n=60, start=2, step=3, count=16, dtype=SHORT, values="integers"),
        Case(n=60, start=2, step=3, count=16, dtype=INT, values="integers"),
        Case(n=60, start=2, step=3, count=16, dtype=LONG, values="integers"),
        Case(n=60, start=2, step=3, count=16, values="integers", exact=True),
        Case(n=40, start=5, step=2, count=16, layout="offset"),
        Case(n=40, start=39, step=-1, count=32, layout="offset", dtype=HALF),
        Case(n=32, start=0, step=1, count=32, layout="strided"),
        Case(n=37, start=5, step=1, count=32, layout="strided"),
        Case(n=37, start=36, step=-1, count=32, layout="strided"),
        Case(n=37, start=20, step=0, count=16, layout="strided"),
        Case(n=1000, start=990, step=-3, count=256, layout="strided", dtype=HALF),
        Case(n=37, start=5, step=3, count=8, columns=5, layout="transposed"),
        Case(
            n=37, start=30, step=-2, count=8, columns=11, layout="transposed", dtype=LONG, values="integers"
        ),
        Case(n=50, start=9, step=2, count=16, layout="expanded"),
        Case(n=100, start=10, step=2, count=32, values="constant"),
        Case(n=100, start=10, step=2, count=32, values="large"),
        Case(n=100, start=10, step=2, count=32, values="heavy"),
        Case(n=64, start=0, step=1, count=64, values="inf"),
        Case(n=64, start=63, step=-1, count=64, values="nan"),
        Case(n=64, start=60, step=-3, count=16, calls=2),
    ],
)

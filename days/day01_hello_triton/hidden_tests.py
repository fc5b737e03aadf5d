"""Day 01: y = 2x + 1 on a vector whose length is a power of two, by one program."""

from __future__ import annotations

from grader.challenge import Case, Challenge
from grader.challenge.formulas.dtypes import HALF

challenge = Challenge(
    entry="scale_and_shift",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x + 1,
    cases=[
        Case(n=8),
        Case(n=1),
        Case(n=2),
        Case(n=64, dtype=HALF),
        Case(n=1024),
        Case(n=4096),
        Case(n=4096, dtype=HALF),
        Case(n=256, values="integers", exact=True),
        Case(n=256, values="integers", dtype=HALF, exact=True),
        Case(n=512, values="constant"),
        Case(n=512, values="large"),
        Case(n=512, values="large", dtype=HALF),
        Case(n=512, values="heavy"),
        Case(n=128, values="inf"),
        Case(n=128, values="nan"),
        Case(n=2048, layout="offset"),
        Case(n=32, calls=2),
    ],
    programs=lambda x: 1,
    shown=Case(n=64, dtype=HALF),
)

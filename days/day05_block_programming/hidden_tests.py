"""Day 05: all sums of two vectors as a matrix, at 0.60 of a plain copy."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Memory, Piece, Speed, between
from grader.challenge.formulas.dtypes import HALF

big = Case(m=16384, n=8192, gpu=True)

challenge = Challenge(
    entry="outer_add",
    inputs=lambda case, draw: (draw(case.m), draw(case.n)),
    reference=lambda x, y: x[:, None] + y[None, :],
    requires=("degenerate_sizes",),
    shown=Case(m=65, n=257),
    cases=[
        Case(m=4, n=8),
        Case(m=1, n=1),
        Case(m=0, n=8),
        Case(m=8, n=0),
        Case(m=1, n=40),
        Case(m=40, n=1),
        Case(m=16, n=16),
        Case(m=31, n=127),
        Case(m=32, n=128),
        Case(m=33, n=129),
        Case(m=65, n=257),
        Case(m=257, n=65),
        Case(m=between(97, 127), n=between(193, 223)),
        Case(m=5, n=513),
        Case(m=513, n=5),
        # Whole blocks one way and not the other.
        Case(m=3, n=256),
        Case(m=256, n=3),
        Case(m=50, n=130, dtype=HALF),
        Case(m=48, n=144, dtype=HALF),
        Case(m=96, n=160, dtype=HALF),
        Case(m=130, n=50, dtype=HALF),
        Case(m=270, n=530, dtype=HALF),
        Case(m=40, n=150, values="integers", exact=True),
        Case(m=150, n=40, values="integers", exact=True),
        Case(m=40, n=150, values="integers", dtype=HALF, exact=True),
        Case(m=37, n=41, layout="offset"),
        Case(m=37, n=141, layout="offset", dtype=HALF),
        Case(m=30, n=70, values="constant"),
        Case(m=30, n=70, values="ties"),
        Case(m=30, n=70, values="spike"),
        Case(m=30, n=70, values="heavy"),
        Case(m=30, n=70, values="large"),
        Case(m=30, n=70, values="large", dtype=HALF),
        Case(m=30, n=70, values="inf"),
        Case(m=30, n=70, values="nan"),
        Case(m=35, n=60, calls=2),
    ],
    speed=Speed(big, moved=lambda x, y: x.nbytes + y.nbytes + len(x) * y.nbytes, of_copy=0.60),
    memory=Memory(big),
    pieces=(
        Piece("reads of x and y", "outer_add_kernel", by="loads", reads=("x_ptr", "y_ptr")),
        Piece("stores of out", "outer_add_kernel", by="stores"),
        Piece("bounds", "outer_add_kernel", by="bounds"),
        Piece("sums", "outer_add_kernel", by="values"),
        Piece("launcher", "outer_add"),
    ),
)

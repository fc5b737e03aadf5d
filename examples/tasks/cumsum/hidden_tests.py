"""KernelBench level 1, problem 89: the running sum along rows; 128 x 4000 there."""

from grader.challenge import Case, Challenge, between

challenge = Challenge(
    entry="cumsum",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: x.cumsum(dim=1),
    cases=[
        Case(rows=8, cols=1000),
        Case(rows=1, cols=1),
        Case(rows=between(3, 9), cols=between(1000, 1100)),
        Case(rows=4, cols=2049),
        Case(rows=4, cols=500, values="integers", exact=True),
        Case(rows=4, cols=100, values="heavy"),
        Case(rows=4, cols=64, calls=2),
    ],
)

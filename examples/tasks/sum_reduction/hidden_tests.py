"""KernelBench level 1, problem 47: the sum over the middle dimension, which stays; 16 x 256 x 256 there."""

from grader.challenge import Case, Challenge, between

challenge = Challenge(
    entry="sum_reduction",
    inputs=lambda case, draw: (draw(case.batch, case.rows, case.cols),),
    reference=lambda x: x.sum(dim=1, keepdim=True),
    reduces=lambda case: case.rows,
    cases=[
        Case(batch=4, rows=64, cols=256),
        Case(batch=1, rows=1, cols=1),
        Case(batch=3, rows=between(20, 40), cols=between(130, 190)),
        Case(batch=2, rows=200, cols=33),
        Case(batch=2, rows=100, cols=70, values="integers", exact=True),
        Case(batch=2, rows=64, cols=70, values="heavy"),
        Case(batch=2, rows=64, cols=70, values="inf"),
        Case(batch=2, rows=64, cols=64, calls=2),
    ],
)

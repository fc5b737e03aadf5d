"""KernelBench level 1, problem 19: ReLU; of 16 x 16384 there."""

import torch

from grader.challenge import Case, Challenge, between

challenge = Challenge(
    entry="relu",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=torch.relu,
    cases=[
        Case(rows=16, cols=1024),
        Case(rows=1, cols=1),
        Case(rows=between(3, 9), cols=between(1000, 1100)),
        Case(rows=4, cols=100, values="large"),
        Case(rows=4, cols=100, values="signed_zeros"),
        Case(rows=4, cols=100, values="inf"),
        Case(rows=4, cols=64, calls=2),
    ],
)

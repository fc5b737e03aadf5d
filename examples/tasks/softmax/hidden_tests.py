"""KernelBench level 1, problem 23: softmax over rows; 16 x 16384 there."""

import torch

from grader.challenge import Case, Challenge, between

challenge = Challenge(
    entry="softmax",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: torch.softmax(x, dim=1),
    cases=[
        Case(rows=16, cols=1024),
        Case(rows=1, cols=1),
        Case(rows=between(3, 9), cols=between(1000, 1100)),
        Case(rows=4, cols=100, values="large"),
        Case(rows=4, cols=100, values="negative"),
        Case(rows=4, cols=100, values="low"),
        Case(rows=4, cols=100, values="some_minus_inf"),
        Case(rows=4, cols=64, calls=2),
    ],
)

"""KernelBench level 1, problem 20: LeakyReLU, whose slope is an argument; 0.01 of 16 x 16384 there."""

from torch.nn.functional import leaky_relu

from grader.challenge import Case, Challenge, between

challenge = Challenge(
    entry="leaky_relu",
    inputs=lambda case, draw: (draw(case.rows, case.cols), case.slope),
    reference=leaky_relu,
    cases=[
        Case(rows=16, cols=1024, slope=0.01),
        Case(rows=1, cols=1, slope=0.01),
        Case(rows=between(3, 9), cols=between(1000, 1100), slope=0.01),
        Case(rows=4, cols=100, slope=0.2),
        Case(rows=4, cols=100, slope=1.5),
        Case(rows=4, cols=100, slope=0.01, values="nan"),
        Case(rows=4, cols=64, slope=0.01, calls=2),
    ],
)

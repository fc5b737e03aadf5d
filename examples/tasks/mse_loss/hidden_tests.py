"""KernelBench level 1, problem 94: the mean squared error; of 128 x 4096 there."""

from torch.nn.functional import mse_loss

from grader.challenge import Case, Challenge, between


def inputs(case, draw):
    return draw(case.rows, case.cols), draw(case.rows, case.cols)


challenge = Challenge(
    entry="mse_loss",
    inputs=inputs,
    reference=mse_loss,
    reduces=lambda case: case.rows * case.cols,
    cases=[
        Case(rows=64, cols=4096),
        Case(rows=1, cols=1),
        Case(rows=between(3, 9), cols=between(1000, 1100)),
        Case(rows=4, cols=100, values="large"),
        Case(rows=4, cols=100, values="nan"),
        Case(rows=4, cols=64, calls=2),
    ],
)

"""KernelBench level 1, problem 1: a @ b of two square matrices; 2048 wide there."""

from grader.challenge import Case, Challenge, between


def inputs(case, draw):
    return draw(case.n, case.n), draw(case.n, case.n)


challenge = Challenge(
    entry="square_matmul",
    inputs=inputs,
    reference=lambda a, b: a @ b,
    cases=[
        Case(n=128),
        Case(n=1),
        Case(n=between(33, 47)),
        Case(n=between(65, 95)),
        Case(n=64, values="integers", exact=True),
        Case(n=48, values="heavy"),
        Case(n=40, values="nan"),
        Case(n=64, calls=2),
    ],
)

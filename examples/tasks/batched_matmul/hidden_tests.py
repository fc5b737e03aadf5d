"""KernelBench level 1, problem 3: a @ b for a batch of matrices; 128 of 128 x 256 and 256 x 512 there."""

from grader.challenge import Case, Challenge, between


def inputs(case, draw):
    return draw(case.batch, case.m, case.k), draw(case.batch, case.k, case.n)


challenge = Challenge(
    entry="batched_matmul",
    inputs=inputs,
    reference=lambda a, b: a @ b,
    cases=[
        Case(batch=4, m=64, k=64, n=96),
        Case(batch=1, m=1, k=1, n=1),
        Case(batch=3, m=between(17, 31), k=between(33, 47), n=between(65, 79)),
        Case(batch=2, m=32, k=200, n=32),
        Case(batch=2, m=32, k=64, n=32, values="integers", exact=True),
        Case(batch=2, m=32, k=64, n=32, values="large"),
        Case(batch=2, m=32, k=32, n=32, values="inf"),
        Case(batch=2, m=32, k=32, n=32, calls=2),
    ],
)

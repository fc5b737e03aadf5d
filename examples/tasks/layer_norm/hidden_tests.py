"""KernelBench level 1, problem 40: LayerNorm with weight and bias; over 64 x 256 x 256 there."""

import torch

from grader.challenge import Case, Challenge, between


def inputs(case, draw):
    """x, whose rows lie around `offset`, weight and bias."""
    x = draw(case.rows, case.cols)
    x += case.get("offset", 0.0)
    return x, draw(case.cols, values="normal"), draw(case.cols, values="normal")


challenge = Challenge(
    entry="layer_norm",
    inputs=inputs,
    reference=lambda x, weight, bias: torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias),
    cases=[
        Case(rows=16, cols=1024),
        Case(rows=1, cols=1),
        Case(rows=between(3, 9), cols=between(1000, 1100)),
        Case(rows=4, cols=300, offset=60.0),
        Case(rows=4, cols=100, values="large"),
        Case(rows=4, cols=100, values="constant"),
        Case(rows=4, cols=64, calls=2),
    ],
)

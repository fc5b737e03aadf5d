"""KernelBench level 1, problem 36: RMSNorm; over 64 features in the second of 4 dimensions there."""

import torch

from grader.challenge import Case, Challenge, between


def reference(x, eps):
    return x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + eps)


challenge = Challenge(
    entry="rms_norm",
    inputs=lambda case, draw: (draw(case.rows, case.cols), case.get("eps", 1e-5)),
    reference=reference,
    cases=[
        Case(rows=16, cols=512),
        Case(rows=1, cols=1),
        Case(rows=between(3, 9), cols=between(500, 600)),
        Case(rows=4, cols=100, eps=0.1),
        Case(rows=4, cols=100, values="zeros"),
        Case(rows=4, cols=100, values="large"),
        Case(rows=4, cols=100, values="nan"),
        Case(rows=4, cols=64, calls=2),
    ],
)

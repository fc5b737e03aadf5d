"""The first things that a judge's GPU takes time for, done before they are waited for."""

from __future__ import annotations

from typing import Any

import torch

from grader.challenge import Case, Challenge
from grader.judge.case.compare import compare
from grader.judge.case.oracle import expect
from grader.judge.case.trial import draw
from grader.spans import span


def wake() -> Any:
    """A CUDA context is made; torch's properties of the GPU."""
    with span("cuda"):
        one = torch.ones(1, 1, device="cuda", dtype=torch.float64)
        torch.randn(1, device="cuda", generator=torch.Generator("cuda"))
        (one @ one).cpu()
        return torch.cuda.get_device_properties(0)


def rehearse(device: str = "cuda") -> None:
    """What each case asks of a GPU, asked once: CUDA loads a kernel when it is first launched."""
    case = Case(n=8)
    challenge = Challenge("double", lambda case, draw: (draw(case.n),), lambda x: 2 * x, [case])
    (want,) = expect(challenge, draw(challenge, case, 0, device))
    assert compare(want.right, want, case) is None

"""The first things that a judge's GPU takes time for, done before they are waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.challenge import Case, Challenge, Gradients
from grader.challenge.harness.compare import compare
from grader.challenge.harness.oracle import expect, expect_gradients
from grader.challenge.harness.trial import draw, draw_upstream
from grader.timing_spans import span

OF_X = Gradients((0,), len)


def known() -> Any:
    """Torch's properties of the GPU; no CUDA context is made, and whoever compiles ahead waits for none."""
    return torch.cuda.get_device_properties(0)


def wake() -> None:
    """A CUDA context is made."""
    with span("cuda"):
        one = torch.ones(1, 1, device="cuda", dtype=torch.float64)
        torch.randn(1, device="cuda", generator=torch.Generator("cuda"))
        (one @ one).cpu()


def rehearse(device: str = "cuda", enough: Callable[[], bool] = lambda: False) -> None:
    """What cases ask of a GPU, asked once: CUDA loads a kernel when it is first launched, and cuBLAS with the
    first product of a dtype, 0.5 s of day 16's first cases.

    Args:
        enough: whether something else is waited for by now.
    """
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        if enough():
            return
        case = Case(n=8, dtype=dtype)
        challenge = Challenge("f", lambda c, draw: (draw(c.n, c.n),), _attended, [case], gradients=OF_X)
        arguments = draw(challenge, case, 0, device)
        outputs = expect(challenge, arguments)
        upstream = draw_upstream(case, outputs, 0, device)
        for want in (*outputs, *expect_gradients(challenge, arguments, upstream, (), ["x"], [0])):
            compare(want.right, want, case)


def _attended(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x @ x.mT, -1) @ x

"""What rounding explains opens no gate: on every day, results that are wrong beyond it fail all the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from grader.challenge import Challenge
from grader.challenge.case import Case
from grader.challenge.harness import oracle
from grader.challenge.harness.compare import Expected, compare
from grader.challenge.harness.trial import draw, draw_upstream
from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.course.catalog import Day
from tests.rounding import asked_once

SMALL = 1024  # elements of the inputs: larger cases take long, and differ in nothing that matters here
FEW = 3  # cases of a challenge, evenly spread
LOWER = {
    torch.float64: torch.float32,
    torch.float32: torch.float16,
    torch.float16: torch.bfloat16,
    torch.bfloat16: torch.float8_e4m3fn,
}
MORE = {torch.float64: 1e-3, torch.float32: 1e-3, torch.float16: 1e-2, torch.bfloat16: 5e-2}


def one_element(exact: Tensor, dtype: torch.dtype) -> Tensor:
    out = exact.flatten()
    out[torch.where(out.isfinite(), out, 0.0).abs().argmax()] *= 1 + 10 * MORE[dtype]
    return out.view(exact.shape).to(dtype)


def one_row(exact: Tensor, dtype: torch.dtype) -> Tensor:
    out = exact.reshape(-1, exact.shape[-1] if exact.dim() > 1 else 1).clone()
    out[len(out) // 2] *= 1 + MORE[dtype]
    return out.view(exact.shape).to(dtype)


WRONG: dict[str, Callable[[Tensor, torch.dtype], Tensor]] = {
    "zeros": lambda exact, dtype: torch.where(exact.isfinite(), 0.0, exact).to(dtype),
    "the next lower precision": lambda exact, dtype: exact.to(LOWER[dtype]).to(dtype),
    "a factor": lambda exact, dtype: (exact * (1 + MORE[dtype])).to(dtype),
    "one element": one_element,
    "one row": one_row,
}


def expected(challenge: Challenge, case: Case) -> list[Expected]:
    """Of all outputs and gradients of a case, with every element of a random function kept."""
    arguments = draw(challenge, case, 1, "cpu")
    first = next((x for x in arguments if isinstance(x, Tensor)), torch.zeros(0))
    kept = (torch.ones_like(first, dtype=torch.bool),) if challenge.chance else ()
    wanted = oracle.expect(challenge, arguments, kept)
    if challenge.gradients:
        upstream = draw_upstream(case, wanted, 1, "cpu")
        names = [str(number) for number in range(len(arguments))]
        wanted += oracle.expect_gradients(
            challenge, arguments, upstream, kept, names, oracle.reached(challenge, arguments, upstream, kept)
        )
    return [want for want in wanted if isinstance(want, Expected) and not want.by_code]


def small(challenge: Challenge, case: Case) -> bool:
    if case.gpu or case.exact:
        return False
    arguments = draw(challenge, case, 1, "cpu")
    return sum(x.numel() for x in arguments if isinstance(x, Tensor)) <= SMALL


@pytest.mark.parametrize("day", [pytest.param(day, id=day.label) for day in catalog.course()])
def test_what_fails_without_the_movement_fails_with_it(day: Day) -> None:
    opened = []
    for challenge in load_challenges(day.hidden_tests):
        cases = [case for case in challenge.cases if small(challenge, case)]
        for case in cases[:: -(-len(cases) // FEW) or 1]:
            length = challenge.reduces(case) if challenge.reduces else 1
            for want in map(asked_once, expected(challenge, case)):
                for name, wrong in WRONG.items() if want.exact.numel() else ():
                    out = wrong(want.exact, want.dtype)
                    strict = compare(out, replace(want, movement=None), case, length)
                    if strict and not compare(out, want, case, length):
                        opened.append(f"{case.id} {want.label}: {name}")
    assert not opened

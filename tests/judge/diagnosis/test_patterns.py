"""What wrong values look like: a number that goes by the sizes is none that is missing."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.diagnosis.evidence import Evidence
from grader.judge.diagnosis.patterns import values
from tests.judge.tried import tried

SIZES = (40, 60, 100)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def said(trials) -> str:
    told = values(trials[0], trials[0].findings[0], Evidence(list(trials), source="", compiled=False))
    return told[0] if told else ""


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda x: 2 * x + 0.5, "Every element is off by +0.5: a constant is missing"),
        (lambda x: 2 * x + len(x) / 40, "Every element is off by +1; in other cases it is another number"),
        (lambda x: 2.2 * x, "Every element is 1.1 times what it should be: a factor is missing"),
        (lambda x: x / len(x) * 30, "Every element is 0.375 times what it should be; in other cases"),
        (lambda x: 2 * x * len(x), "Every element is n times what it should be: a factor is missing"),
    ],
)
def test_a_factor_or_a_constant_is_missing_where_it_is_the_same_in_all_cases(wrong, says: str) -> None:
    assert said([tried(Case(n=n), (torch.randn(n),), doubled, wrong) for n in SIZES]).startswith(says)


def test_where_fp32_is_right_no_factor_is_missing() -> None:
    def short(x: torch.Tensor) -> torch.Tensor:
        return 2 * x * (0.95 if x.dtype == torch.float16 else 1.0)

    trials = [
        tried(Case(n=n, dtype=dtype), (torch.randn(n).to(dtype),), doubled, short)
        for dtype in (torch.float16, torch.float32)
        for n in (30, 40, 50)
    ]
    assert "factor" not in said(trials)


def test_a_last_element_that_is_only_the_furthest_off_is_not_wrong_alone() -> None:
    def drifts(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([2 * x[:-1] + 5e-3 * x[:-1].abs(), x[-1:] + 9])

    assert "Only the last" not in said(
        [tried(Case(n=n), (torch.randn(n),), doubled, drifts) for n in (17, 33)]
    )


def test_a_last_element_that_is_wrong_alone_is_no_block() -> None:
    def but_last(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([2 * x[:-1], x[-1:] + 9])

    trials = [tried(Case(n=n), (torch.randn(n),), doubled, but_last) for n in (17, 33, 50)]
    assert (
        said(trials) == "Only the last element comes out wrong: does a mask, or the grid, end one too early?"
    )

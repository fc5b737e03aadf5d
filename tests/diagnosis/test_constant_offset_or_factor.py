"""All of a result off by one number: what is told is true of every case that failed."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.diagnosis.constant_offset_or_factor import off
from grader.diagnosis.evidence import Evidence
from tests.judge.tried import tried

SIZES = (40, 60, 100)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def said(trials) -> str:
    told = off(trials[0], trials[0].findings[0], Evidence(list(trials), source="", compiled=False))
    return told[0] if told else ""


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda x: 2 * x + 0.5, "Every element is off by +0.5."),
        (lambda x: 2 * x + len(x) / 40, ""),
        (lambda x: 2.2 * x, "Every element is 1.1 times what it should be."),
        (lambda x: x / len(x) * 30, ""),
        (lambda x: -2 * x, "Every element is -1 times what it should be."),
    ],
)
def test_one_number_is_told_where_it_is_the_same_in_all_cases(wrong, says: str) -> None:
    assert said([tried(Case(n=n), (torch.randn(n),), doubled, wrong) for n in SIZES]) == says

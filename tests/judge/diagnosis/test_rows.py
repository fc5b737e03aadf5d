"""Rows that are off by factors of their own: the sentence says only what the source leaves possible."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.answers import Launch
from grader.challenge import Case
from grader.judge.case.trial import Trial
from tests.judge.tried import told, tried

MASKED = 'x = tl.load(p, mask=m, other=-float("inf"))\n'
ZEROED = "x = tl.load(p, mask=m, other=0.0)\n"
DOT = "s = tl.dot(q, k)\n"


def scaled(*factors: float, programs: int = 0) -> Trial:
    """Softmaxes of rows that come out times these factors."""
    by = torch.tensor(factors)[:, None]
    one = tried(
        Case(rows=len(factors), cols=50),
        (torch.randn(len(factors), 50),),
        lambda a: torch.softmax(a, 1),
        lambda a: torch.softmax(a, 1) * by,
    )
    assert one.answer is not None
    if programs:
        report = replace(one.answer.report, launches=[Launch("k", [programs])])  # type: ignore[type-var]
        one.answer = replace(one.answer, report=report)
    return one


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (MASKED, "sums added that belong to different maxima"),
        (ZEROED, "`other=` must be neutral"),
        (MASKED + ZEROED, "`other=` must be neutral"),
        (MASKED + DOT, "tl.where makes that -inf"),
    ],
)
def test_lanes_are_blamed_where_they_may_hold_more_than_minus_infinity(source: str, says: str) -> None:
    assert says in told(scaled(0.5, 0.7, 0.9), source=source)


def test_rows_that_a_program_takes_later_are_told_as_such() -> None:
    assert told(scaled(1.0, 1.0, 0.5, 0.7, programs=2)).startswith("Rows up to 1 are right")
    assert "left over" not in told(scaled(1.0, 0.6, 0.5, 0.7, programs=2))


def test_rows_that_are_off_both_ways_are_not_called_too_large() -> None:
    sentence = told(scaled(0.8, 1.2, 0.9, 1.3))
    assert "some up and some down" in sentence
    assert "too large" not in sentence


def test_rows_that_are_right_are_not_called_too_small() -> None:
    assert told(scaled(1.0, 0.6, 0.5, 1.0)).startswith("Some rows are too small")


def test_one_row_alone_is_off_by_no_constant() -> None:
    one = tried(Case(rows=1, cols=9), (torch.randn(1, 9),), lambda a: a, lambda a: a - 0.5)
    assert "a constant" not in told(one)


def test_indices_have_no_factor() -> None:
    indices = tried(Case(n=8), (torch.arange(1, 9),), lambda a: a, lambda a: 2 * a)
    values = tried(Case(n=8), (torch.arange(1.0, 9),), lambda a: a, lambda a: 2 * a)
    assert "2 times" in told(values)
    assert "2 times" not in told(indices)

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


def test_rows_of_which_one_is_off_otherwise_have_no_factors() -> None:
    """One that is so small that the whole hardly shows it."""
    by, size = torch.tensor([[0.8], [1.2], [0.9], [1.1]]), torch.tensor([[1.0], [1.0], [1.0], [2e-3]])

    def trial(turned: int) -> Trial:
        def given(a: torch.Tensor) -> torch.Tensor:
            out = torch.softmax(a.float(), 1) * size * by
            return torch.cat([out[:3], out[3:].roll(turned, 1)])

        case, a = Case(rows=4, cols=50, dtype=torch.float16), torch.randn(4, 50).half()
        return tried(case, (a,), lambda a: torch.softmax(a, 1) * size.to(a), given)

    assert "factor" in told(trial(0))
    assert "factor" not in told(trial(1))


def test_factors_of_16_bits_alone_are_rounding() -> None:
    """Scores that are rounded before exp(): where one of them counts alone, its row has a factor."""
    spread = torch.tensor([[40.0, 0.0, 0.0], [43.1, 0.0, 0.0], [45.7, 0.0, 0.0]])

    def weighed(scores: torch.Tensor) -> torch.Tensor:
        return torch.exp(scores - spread.logsumexp(1)[:, None])

    def trial(dtype: torch.dtype, rounded: bool) -> Trial:
        values = torch.ones(3, 5, dtype=dtype)
        kept = spread.bfloat16().float() if rounded else spread
        case = Case(rows=3, cols=5, dtype=dtype, rounded=rounded)
        return tried(case, (values,), lambda v: weighed(spread).to(v) @ v, lambda v: weighed(kept).to(v) @ v)

    right, wrong = (
        trial(dtype, rounded) for dtype, rounded in ((torch.float32, False), (torch.bfloat16, True))
    )
    assert "factor" in told(wrong)
    assert "factor" not in told(right, right, right, wrong)

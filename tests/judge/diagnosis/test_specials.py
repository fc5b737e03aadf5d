"""NaN and Inf: the sentence blames only what the source has, and what the case allows."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.case.trial import Trial
from tests.judge.tried import told, tried

MAX = "m = tl.max(x)\n"
LOAD, EXP, EMPTY = "x = tl.load(x_ptr)\n", "y = tl.exp(x)\n", "out = torch.empty_like(x)\n"


def not_a_number(sliced: bool = False, values: str = "normal") -> Trial:
    x = torch.randn(8, 16)[:, :12] if sliced else torch.randn(8, 12)
    return tried(Case(values=values), (x,), lambda a: a + 1, lambda a: a * torch.nan)


@pytest.mark.parametrize(
    ("source", "sliced", "says"),
    [
        (
            LOAD + MAX + EXP,
            False,
            "The kernel makes this NaN itself: Inf - Inf, Inf / Inf, 0 / 0 or 0 · Inf. A running maximum",
        ),
        (LOAD + EXP, False, "The kernel makes this NaN itself"),
        (LOAD, False, "The kernel makes this NaN itself: Inf - Inf, Inf / Inf, 0 / 0 or 0 · Inf."),
        (LOAD + EMPTY, False, "The kernel makes this NaN itself"),
        (LOAD + EMPTY + EMPTY, False, "or loads it from what torch.empty left there"),
        (LOAD, True, "or loads it from the gap between the rows of an input"),
    ],
)
def test_a_nan_is_laid_to_the_kernel_alone_where_none_can_be_loaded(
    source: str, sliced: bool, says: str
) -> None:
    sentence = told(not_a_number(sliced), source=source)
    assert says in sentence
    assert ("running maximum" in sentence) == ("exp" in source and "max" in source)


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        (EXP, "exponents that are never positive"),
        (EXP + "s = tl.sum(y)\n", "subtract the maximum first"),
        (EXP + "s = tl.sum(y)\nw = max(1, 2)\n", "subtract the maximum first"),
        (MAX + EXP + "s = tl.sum(y)\n", "of the very numbers that exp() is given"),
    ],
)
def test_a_maximum_is_missed_in_a_sum_of_exponentials_alone(source: str, advice: str) -> None:
    assert advice in told(not_a_number(values="large"), source=source)

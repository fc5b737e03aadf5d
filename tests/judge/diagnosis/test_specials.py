"""NaN and Inf: the sentence blames only what the source has, and what the case allows."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.case.trial import Trial
from tests.judge.tried import told, tried

MAX, RUNNING, RELU = "m = tl.max(x)\n", "m = tl.maximum(m, tl.max(x))\n", "y = tl.maximum(x, 0.0)\n"
ONLINE = "for start in range(n):\n    m = tl.maximum(m, tl.max(x))\n    y = tl.exp(x)\n"
LOAD, EXP, EMPTY = "x = tl.load(x_ptr)\n", "y = tl.exp(x)\n", "out = torch.empty_like(x)\n"


def not_a_number(sliced: bool = False, values: str = "normal") -> Trial:
    x = torch.randn(8, 16)[:, :12] if sliced else torch.randn(8, 12)
    return tried(Case(values=values), (x,), lambda a: a + 1, lambda a: a * torch.nan)


@pytest.mark.parametrize(
    ("source", "sliced", "says"),
    [
        (
            LOAD + ONLINE,
            False,
            "The kernel makes this NaN itself: Inf - Inf, Inf / Inf, 0 / 0 or 0 · Inf. A running maximum",
        ),
        (LOAD + RUNNING + EXP, False, "The kernel makes this NaN itself"),
        (LOAD + EXP, False, "The kernel makes this NaN itself"),
        (LOAD + MAX + RELU + EXP, False, "The kernel makes this NaN itself"),
        (LOAD, False, "The kernel makes this NaN itself: Inf - Inf, Inf / Inf, 0 / 0 or 0 · Inf."),
        (LOAD + EMPTY, False, "The kernel makes this NaN itself"),
        (LOAD + EMPTY + EMPTY, False, "or loads it from what torch.empty left there"),
        (LOAD, True, "or loads it from a gap between the elements of an input"),
    ],
)
def test_a_nan_is_laid_to_the_kernel_alone_where_none_can_be_loaded(
    source: str, sliced: bool, says: str
) -> None:
    sentence = told(not_a_number(sliced), source=source)
    assert says in sentence
    assert ("running maximum" in sentence) == (ONLINE in source)


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


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (MAX + "y = tl.exp(x - m)\n", "a row that holds +inf needs the same care"),
        ("y = tl.sum(a * tl.where(first, x, 0.0))\n", "a step on the way is 0 · Inf, Inf - Inf or Inf / Inf"),
    ],
)
def test_an_inf_that_becomes_nan_is_laid_to_a_maximum_only_where_one_is_subtracted(
    source: str, says: str
) -> None:
    x = torch.full((8, 12), torch.inf)
    assert says in told(tried(Case(values="inf"), (x,), lambda a: a + 1, lambda a: a * 0), source=source)


@pytest.mark.parametrize("values", ["nan", "inf", "large", "some_minus_inf"])
def test_what_may_drop_a_nan_is_named_whatever_made_it(values: str) -> None:
    x = torch.full((8, 12), torch.nan)
    trial = tried(Case(values=values), (x,), lambda a: a, lambda a: a.nan_to_num(0.0))
    sentence = told(trial, source=LOAD + RELU)
    assert sentence == "Where NaN is right comes 0: tl.maximum may drop NaN."


BRANCH = "m = tl.max(x)\nif m == -float('inf'):\n    y = 0.0\n"
HIDDEN = "s = tl.where(cols < n, x, -float('inf'))\n"


def test_a_maximum_drops_a_nan_where_it_is_asked_for_and_a_mask_of_places_never_does() -> None:
    x = torch.full((8, 12), torch.nan)
    trial = tried(Case(values="nan"), (x,), lambda a: a, lambda a: a.nan_to_num(0.0))
    assert told(trial, source=LOAD + HIDDEN + BRANCH) == "Where NaN is right comes 0: tl.max may drop NaN."
    assert "tl.max" not in told(trial, source=LOAD + MAX + HIDDEN)

"""What failed cases have in common: lengths beyond a block, a size."""

from __future__ import annotations

import torch

from grader.challenge import Case
from grader.challenge.harness.trial import Trial
from tests.judge.tried import told, tried


def summed(n: int, right: bool, off: float = 0.5, **case: object) -> Trial:
    """Sums of rows of n elements; a wrong one is off by noise of `off` times its size."""
    noise = 0.0 if right else off
    return tried(
        Case(m=4, n=n, **case),  # type: ignore[arg-type]
        (torch.randn(4, n),),
        lambda a: a.sum(1),
        lambda a: a.sum(1) * (1 + noise * torch.tensor([0.9, -1.1, 0.7, 1.3])),
    )


def test_right_up_to_a_length_is_told_with_the_length() -> None:
    trials = [summed(n, right=n <= 128) for n in (3, 64, 128, 130, 200, 1000)]
    assert told(*trials).startswith("Right up to n = 128, wrong from n = 130 on")


def test_rounding_that_grows_with_the_length_is_no_block() -> None:
    trials = [summed(n, right=n <= 128, off=1e-3) for n in (3, 64, 128, 130, 200, 1000)]
    assert "close enough" in told(*trials)


def test_lengths_in_any_order_tell_nothing() -> None:
    trials = [summed(n, right=n in (64, 130, 1000)) for n in (3, 64, 128, 130, 200, 1000)]
    assert told(*trials).startswith("At [")


def grouped(n: int, heads: int, wrong: bool, **case: object) -> Trial:
    by = torch.randn(n) if wrong else torch.zeros(n)
    of = Case(n=n, heads=heads, **case)  # type: ignore[arg-type]
    return tried(of, (torch.randn(n),), lambda a: a.exp(), lambda a: a.exp() + by)


def test_a_length_that_few_cases_part_is_no_threshold() -> None:
    assert told(*(summed(n, right=n <= 128) for n in (3, 64, 128, 130, 200))).startswith("At [")

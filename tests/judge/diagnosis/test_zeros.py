"""Results of 0 in a file whose kernels loop."""

from __future__ import annotations

import torch

from grader.challenge import Case
from tests.judge.tried import told, tried

LOOP = "@triton.jit\ndef kernel(x_ptr, n):\n    for i in range(n):\n        tl.store(x_ptr, i)\n"
X = torch.rand(4, 6) + 1


def some_rows(x: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.arange(len(x))[:, None] == 2, 0.0, x.sqrt() + x.flip(0))


def test_a_result_of_0_is_told_as_that() -> None:
    trials = [tried(Case(n=n), (X,), torch.sqrt, torch.zeros_like) for n in (4, 5)]
    assert "is 0 everywhere, as if nothing was added up" in told(*trials, source=LOOP)
    assert "is 0 everywhere" not in told(*trials, source="x = 1\n")


def test_a_few_numbers_that_are_0_rightly_change_nothing_and_many_do() -> None:
    for zeros, expected in ((1, True), (12, False)):
        x = X.clone()
        x.view(-1)[:zeros] = 0
        trials = [tried(Case(n=n), (x,), torch.sqrt, torch.zeros_like) for n in (4, 5)]
        assert ("is 0 everywhere" in told(*trials, source=LOOP)) is expected


def test_rows_of_0_are_told_with_the_first() -> None:
    trial = tried(Case(n=4), (X,), lambda x: x.exp(), some_rows)
    assert "Whole rows are 0 where other numbers belong, the first is [2]" in told(trial, source=LOOP)

"""A result that is right in a fresh process alone is told so; one of other inputs says nothing of that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from grader.challenge import Case
from grader.judge.checks import correct
from tests.judge.tried import tried


def afresh(redrawn: bool) -> bool:
    """What is said of |x| where -x is right, by a session in which any other trial passes."""
    x = torch.tensor([-1.0, 2.0])
    trial = tried(Case(n=2), (x,), lambda x: x, lambda x: x.abs())
    trial.redrawn = redrawn
    session: Any = SimpleNamespace(
        evidence=SimpleNamespace(trials=[trial]),
        close=lambda: None,
        trial=lambda *_: SimpleNamespace(passed=True),
    )
    return correct._right_afresh(session, trial)


def test_inputs_of_a_second_draw_have_no_first_call_to_be_held_against() -> None:
    assert afresh(redrawn=False)
    assert not afresh(redrawn=True)

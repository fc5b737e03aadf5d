"""A result that is right in a fresh process alone is told so; one of other inputs says nothing of that."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from grader.challenge import Case
from grader.challenge.harness.compare import Finding
from grader.judge.checks import correct
from grader.runner_answers import Tuning
from tests.judge.tried import REPORT, tried


def afresh(redrawn: bool = False, unwritten: bool = False, tunings: tuple[Tuning, ...] = ()) -> bool:
    """What is said of |x| where x is right, by a session in which any other trial passes."""
    x = torch.tensor([-1.0, 2.0])
    trial = tried(Case(n=2), (x,), lambda x: x, lambda x: x.abs())
    trial.redrawn = redrawn
    if unwritten:
        trial.findings = [Finding("unwritten", "")]
    called = replace(REPORT, tunings=[*tunings])
    session: Any = SimpleNamespace(
        evidence=SimpleNamespace(trials=[trial]),
        close=lambda: None,
        trial=lambda *_: SimpleNamespace(passed=True, called=called),
    )
    return correct._right_afresh(session, trial)


def test_inputs_of_a_second_draw_have_no_first_call_to_be_held_against() -> None:
    assert afresh(redrawn=False)
    assert not afresh(redrawn=True)


def test_what_an_autotuner_s_other_configs_store_in_a_first_call_is_not_right() -> None:
    tuning = Tuning("kernel", 3, [], [])
    assert not afresh(unwritten=True, tunings=(tuning,))
    assert afresh(tunings=(tuning,)), "wrong numbers are of the chosen config"
    assert afresh(unwritten=True)

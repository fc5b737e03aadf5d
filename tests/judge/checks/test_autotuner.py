"""An autotuner is held against what its calls showed, on any day that asks for one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.challenge import Case, Tuner
from grader.judge.checks import autotuner
from grader.judge.failures import CheckFailed
from grader.runner_answers import Tuning
from tests.judge.tried import tried

WANTED = Tuner(key=("m", "k"))


def told(*seen: tuple[Case, Tuning]) -> str:
    """What the check says of these calls; empty where it passes."""
    trials = [tried(case, (torch.ones(2),), torch.neg, torch.neg) for case, _ in seen]
    challenge = replace(trials[0].challenge, tuner=WANTED)
    for trial, (_, tuning) in zip(trials, seen, strict=True):
        assert trial.answer is not None
        trial.challenge = challenge
        trial.answer = replace(trial.answer, report=replace(trial.answer.report, tunings=[tuning]))  # type: ignore[type-var]
    session: Any = SimpleNamespace(evidence=SimpleNamespace(trials=trials), acceptance=None)
    try:
        autotuner.named(session, challenge)
        autotuner.check(session, challenge)
    except CheckFailed as failed:
        return f"{failed.outcome}: {failed}"
    return ""


def call(*key: str, configs: int = 3, strangers: tuple[str, ...] = (), left: int | None = None) -> Tuning:
    return Tuning("kernel", configs, list(strangers), list(key), left)


SMALL, LONG = Case(m=20, k=20), Case(m=20, k=515)


def test_a_key_in_powers_of_two_tells_sizes_apart() -> None:
    assert not told((SMALL, call("32", "32")), (LONG, call("32", "1024")))
    assert not told((SMALL, call("32", "32")), (Case(m=20, k=30), call("32", "32")))


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        ([(SMALL, call("20")), (LONG, call("20"))], "does not tell k = 20 from k = 515"),
        ([(SMALL, call("20", "20", strangers=("K",)))], "names 'K', which is no argument of kernel"),
        ([(SMALL, call(configs=1))], "nothing to choose among"),
        ([(SMALL, call("20", configs=4, left=4)), (LONG, call("2", configs=4, left=4))], "drops no config"),
    ],
)
def test_what_is_missing_is_said(seen: list[tuple[Case, Tuning]], says: str) -> None:
    assert says in told(*seen)


def test_pruning_once_is_enough_and_few_configs_need_none() -> None:
    assert not told((SMALL, call("1", configs=4, left=1)), (LONG, call("2", configs=4, left=4)))
    assert not told((SMALL, call("1", left=3)), (LONG, call("2", left=3)))

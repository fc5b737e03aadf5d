"""Which launches are made again: those of several calls, and of some layouts one case each, by lot."""

from __future__ import annotations

from pathlib import Path

import torch

from grader.challenge import Case, Challenge
from grader.judge.case import repeating
from grader.judge.case.compare import Finding
from grader.judge.case.trial import LARGEST, Trial
from grader.request import Request

LAYOUTS = ("contiguous", "offset", "sliced", "strided", "transposed")
CASES = [Case(n=n, layout=layout) for n in (3, 5, 7) for layout in LAYOUTS] + [Case(n=9, calls=2)]


def chosen(seed: int, size: int = 10, findings: tuple[Finding, ...] = ()) -> list[Case]:
    challenge = Challenge("f", lambda case, draw: (), torch.clone, CASES)
    request = Request("grade", Path(), Path(), Path(), b"", "cpu", seed, 20.0)
    trials = [Trial(challenge, case, (torch.empty(size),), ["x"], findings=list(findings)) for case in CASES]
    return [trial.case for trial in trials if repeating._chosen(trial, request)]


def test_a_few_and_always_that_of_several_calls() -> None:
    for seed in range(20):
        found = chosen(seed)
        assert CASES[-1] in found
        assert len(LAYOUTS) <= len(found) <= repeating.KINDS + 1
        assert chosen(seed) == found


def test_every_case_may_be_drawn() -> None:
    assert {case.id for seed in range(200) for case in chosen(seed)} == {case.id for case in CASES}


def test_none_that_failed_is_empty_or_takes_its_time() -> None:
    assert chosen(1, findings=(Finding("values", "wrong"),)) == []
    assert chosen(1, size=0) == chosen(1, size=LARGEST + 1) == []

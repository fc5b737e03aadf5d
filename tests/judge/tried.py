"""Trials and evidence made by hand: a case, its arguments, and what a kernel gave for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.compare import Expected, compare
from grader.challenge.harness.oracle import expect
from grader.challenge.harness.trial import Trial
from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.evidence import Evidence
from grader.runner_answers import Called

Function = Callable[..., torch.Tensor]
REPORT = Called("Tensor", [], [], [], [], False, [], 0, [], [], [])


def tried(case: Case, arguments: tuple[Any, ...], right: Function, given: Function) -> Trial:
    """A trial of a kernel that computes `given` where `right` is asked for; arguments are called a, b, …"""
    challenge = Challenge("f", lambda case, draw: arguments, right, [case])
    trial = Trial(challenge, case, arguments, [chr(ord("a") + i) for i in range(len(arguments))])
    trial.expected = expect(challenge, arguments)
    want = trial.expected[0]
    assert isinstance(want, Expected)
    out = given(*arguments).to(want.dtype)
    trial.answer = Answer(REPORT, [out])
    finding = compare(out, want, case)
    trial.findings = [finding] if finding else []
    return trial


def told(*trials: Trial, source: str = "", compiled: bool = False) -> str:
    """The sentence for all of these trials together."""
    return diagnose(Evidence(list(trials), source=source, compiled=compiled))[0]

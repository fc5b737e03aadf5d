"""Which rows of gigabytes are looked at: the same whenever a case is tried again."""

from __future__ import annotations

import random
from pathlib import Path

import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness import trial as trials
from grader.challenge.harness.trial import Trial
from grader.request import Request

CASE = Case(rows=3 << 20, cols=64)
HUGE = torch.empty(1, 64).expand(3 << 20, 64)  # as long as a tensor of 768 MiB, and takes no memory


def chosen(seed: int, only: str | None = None) -> tuple[list[list[int]] | None, list[int]]:
    challenge = Challenge("f", lambda case, draw: (HUGE,), torch.clone, [CASE], rowwise=True)
    request = Request("grade", Path(), Path(), Path(), b"", "cpu", seed, 20.0, only=only)
    trial = Trial(challenge, CASE, (HUGE,), ["x"])
    trials.choose(trial, request.rng(CASE.id, "rows"))
    return trial.slices, trial.picked


def test_a_seed_and_a_case_replay_the_rows() -> None:
    random.seed(1)
    before = chosen(4021)
    random.seed(2)
    assert chosen(4021, only=CASE.id) == before
    assert chosen(4021) == before
    assert len(before[1]) > 8


def test_another_seed_looks_at_other_rows() -> None:
    assert chosen(4021) != chosen(4022)

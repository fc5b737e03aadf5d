"""A file's cases with many seeds in one judge and one runner: for `track dev seeds`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.challenge import Case, Challenge
from grader.challenge.harness.answer_checks import find
from grader.challenge.harness.compare import Expected
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import RunnerLost
from grader.challenge.harness.trial import Trial
from grader.challenge.harness.value_checks import passes_with
from grader.challenge.loading import drawn
from grader.judge.failures import CheckFailed
from grader.judge.session import Session

GROWN = 1.25  # what would fail with errors so many times as large may fail with another seed


def seeded(session: Session) -> list[dict[str, Any]]:
    """Every case with the request's seed and those that follow it.

    Returns:
        one entry a case that failed, leaned on its conditioning or came near a gate; last how many were
        tried.
    """
    tried, found = 0, []
    for seed in range(session.request.seed, session.request.seed + session.request.seeds):
        asked = replace(session.asked, challenges=drawn(replace(session.request, seed=seed)))
        pairs = asked.cases("correct") + asked.cases("edges")
        for pair in pairs:
            entry = _tried(session, *pair, seed)
            tried += entry.pop("tried")
            if entry:
                found.append({"seed": seed, "case": session.asked.case_id(pair), **entry})
    return [*found, {"tried": tried}]


def _tried(session: Session, challenge: Challenge, case: Case, seed: int) -> dict[str, Any]:
    """What there is to tell of one case with one seed."""
    if challenge.judges:  # the learner's own test, which may miss some of what it tries
        return {"tried": 0}
    names, request = session.names[challenge.entry], replace(session.request, seed=seed)
    try:
        trial = attempt(session.ready_runner(), challenge, case, names, request)
    except RunnerLost as lost:
        session.close()
        return {"tried": 1, "failed": True, "reason": lost.reason}
    except CheckFailed as failed:
        return {"tried": 1, "failed": True, "reason": str(failed)}
    if trial.passed:
        told = {"leaned": _leaned(trial), "near": not passes_with(trial, GROWN)}
        return {"tried": 1, **({"failed": False, **told} if any(told.values()) else {})}
    finding = trial.findings[0]
    facts = {name: finding.facts.get(name) for name in ("label", "max_error", "allowed")}
    return {"tried": 1, "failed": True, "reason": finding.reason, **facts}


def _leaned(trial: Trial) -> bool:
    """Whether it passes only because its rows are known to be ill-conditioned."""
    expected = trial.expected
    trial.expected = tuple(
        replace(want, movement=None) if isinstance(want, Expected) else want for want in expected
    )
    strict = find(trial)
    trial.expected = expected
    return bool(strict)

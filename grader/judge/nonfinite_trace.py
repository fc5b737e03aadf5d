"""What failed, evaluated once more: which steps made a NaN or an Inf of numbers."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

from grader.challenge.cases.attempt import steps_behind
from grader.challenge.cases.runner_client import RunnerLost, ask_to_load
from grader.challenge.cases.trial import repeatable
from grader.judge.session import Session
from grader.runner_answers import Failed

ODD = "nan", "inf"  # kinds of findings
FEW = 3  # cases that met a limit


def trace(session: Session) -> list[dict[str, Any]]:
    """Let the first failed trial, else the first that met limits, know which steps made their NaN or Inf.

    Returns:
        those of the one that failed, for its check.
    """
    failed = session.evidence.failed[:1]
    limits = [one for one in session.evidence.trials if one.limit and not failed]
    odd = [one for one in failed + limits if one.findings[0].kind in ODD and repeatable(one.arguments)]
    if not odd or session.evidence.compiled:
        return []
    request = session.evaluators.request
    with closing(session.evaluators.runner()) as runner, suppress(RunnerLost):
        if not isinstance(ask_to_load(runner, request), Failed):
            for trial in odd[:FEW]:
                trial.made = steps_behind(runner, trial, request)
    return [asdict(step) for trial in failed for step in trial.made]

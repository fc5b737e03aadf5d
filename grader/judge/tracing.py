"""What failed, called once more in the interpreter: which steps made a NaN or an Inf of numbers."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

import torch

from grader.answers import Failed
from grader.judge.case.attempt import steps_behind
from grader.judge.case.link import RunnerLost, ask_to_load
from grader.judge.case.trial import repeatable
from grader.judge.session import Session

ODD = "nan", "inf"  # kinds of findings


def trace(session: Session) -> list[dict[str, Any]]:
    """Let the first failed trial know by which steps its first finding came to be; of a wrong number, which
    ones left fp16.

    Returns:
        them, for its check.
    """
    trial = next(iter(session.evidence.failed), None)
    if trial is None or session.evidence.compiled or not repeatable(trial.arguments):
        return []
    kind, halves = trial.findings[0].kind, b"float16" in session.request.source
    if kind not in ODD and not (kind == "values" and (halves or trial.case.dtype == torch.float16)):
        return []
    request = session.interpreting.request
    with closing(session.interpreting.runner()) as runner, suppress(RunnerLost):
        if not isinstance(ask_to_load(runner, request), Failed):
            made, overflowed = steps_behind(runner, trial, request)
            # Where a number stands, a NaN may have stood before; and of a NaN what left fp16 may be innocent.
            trial.made, trial.overflowed = (made, []) if kind in ODD else ([], overflowed)
    return [asdict(step) for step in trial.made or trial.overflowed]

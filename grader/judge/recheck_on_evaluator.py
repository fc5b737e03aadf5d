"""What failed, evaluated once more: which steps made a NaN or an Inf of numbers; and on a GPU all of it, for
the evaluator sees every address and race.

Their inputs are the same to the bit. Where the first of them fails there as well, what was seen there is
told; where it does not, only the GPU shows what is wrong: what the GPU showed is told, and that it is so.
"""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

from grader.challenge.harness.run_case import again, steps_behind, untried
from grader.challenge.harness.runner_client import RunnerLost, ask_to_load
from grader.challenge.harness.trial import Trial, repeatable
from grader.diagnosis.exceptions import STOPPED
from grader.judge.checks.correct import VALUES
from grader.judge.session import Session
from grader.runner_answers import Failed
from grader.verdict import Check

ODD = "nan", "inf"  # kinds of findings
TRACED = 3  # cases that met a limit
FEW = 12  # cases, the first that failed among them: as many as are tried once some have failed
SECONDS = 5.0  # after which no other one is begun


def look(session: Session, check: Check | None) -> dict[str, Any]:
    """Put what the evaluator sees in the place of what the GPU showed.

    Args:
        check: the first that failed.

    Returns:
        the cause of that check as it was seen there; empty where nothing was.
    """
    first = _trial(session, check) if session.device == "cuda" and check else None
    if first is None or first.case.gpu:
        return {}
    with closing(session.evaluators.runner()) as runner, suppress(RunnerLost):
        begin, request = time.monotonic(), session.evaluators.request
        if isinstance(ask_to_load(runner, request), Failed):
            return {}
        seen = again(runner, first.on_cpu(), request)
        if seen.unevaluated:
            return {}
        if seen.passed:  # what an earlier call left, say, or smaller blocks, is no GPU's doing
            by_values = any(one.kind in VALUES for one in first.findings[:1])
            session.evidence.right_evaluated = by_values and _launches(first) == _launches(seen)
            return {}
        session.evidence.see(first, seen)
        for trial in session.evidence.failed[1:FEW]:
            if time.monotonic() - begin < SECONDS and not trial.case.gpu:
                other = again(runner, trial.on_cpu(), request)
                if not other.passed and not other.unevaluated:
                    session.evidence.see(trial, other)
    return {} if session.evidence.compiled else session.cause(session.evidence.failed[0])


def _launches(trial: Trial) -> list[tuple[str, list[int]]]:
    """The kernels that were launched, and their grids: a launcher may choose others on a GPU."""
    return [(one.kernel, one.grid) for one in trial.called.launches] if trial.called else []


def _trial(session: Session, check: Check) -> Trial | None:
    """The trial behind a check, if addresses may say more of it than it says itself."""
    case = check.name.partition("[")[2][:-1]
    trial = next(iter(session.evidence.failed), None)
    if trial is None and session.evidence.lost:
        pairs = ((c, one) for c in session.challenges for one in c.cases if one is session.evidence.lost[0])
        trial = next((untried(*pair, session.names[pair[0].entry], session.request) for pair in pairs), None)
    if trial is None or session.asked.case_id((trial.challenge, trial.case)) != case:
        return None
    told = [finding for finding in trial.findings[:1] if finding.kind == "error"]
    stopped = any(word in finding.facts["message"] for finding in told for word in STOPPED)
    return trial if stopped or not told else None


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
            for trial in odd[:TRACED]:
                trial.made = steps_behind(runner, trial, request)
    return [asdict(step) for trial in failed for step in trial.made]

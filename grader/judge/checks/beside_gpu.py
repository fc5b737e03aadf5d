"""The check of what a GPU does not show, made beside one: addresses and races of small cases, evaluated.

A lane that is loaded beside its tensor and thrown away leaves every value right there. A runner of its own
tries the cases in the background, from the first case on where there are cores for it.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.cases.attempt import attempt
from grader.challenge.cases.runner_client import RunnerLost, ask_to_load
from grader.challenge.cases.trial import Trial
from grader.diagnosis.diagnose import diagnose_or_say
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session

SECONDS = 20.0  # after which no other case is begun: what a check may take is a call or two
UNSEEN = "overrun", "race"  # kinds of findings that no GPU shows

Tried = dict[str, Future[Trial]]  # by the name of the case


def begin(session: Session) -> Tried:
    """Start trying the cases on a GPU, unless that is begun."""
    if session.evaluated is None:
        session.evaluated = {session.asked.case_id(pair): Future() for pair in session.asked.evaluated()}
        if session.evaluated:
            ThreadPoolExecutor(1).submit(_try_all, session, session.evaluated)
    tried: Tried = session.evaluated
    return tried


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """What the evaluator saw of one case.

    Raises:
        CheckFailed: a kernel loads or stores beside its tensors, or programs meet in an element.
        NotMeasured: it could not be evaluated, and why.
    """
    try:
        trial = begin(session)[session.asked.case_id((challenge, case))].result()
    except (RunnerLost, CheckFailed) as lost:
        raise NotMeasured(f"not evaluated: {lost}") from None
    told = [finding for finding in trial.findings if finding.kind in UNSEEN]
    if not told:
        if any(finding.kind == "error" for finding in trial.findings):
            raise NotMeasured(f"not evaluated: {trial.findings[0].reason}")
        return
    trial = replace(trial, findings=told)
    alone = replace(session.evidence, trials=[trial], own=None, lost=None, compiled=False)
    raise CheckFailed("failed", session.cause(trial), diagnose_or_say(alone, trial.findings[0].reason))


def _try_all(session: Session, tried: Tried) -> None:
    """Answer every case, or say of all that are left why they cannot be."""
    torch.set_num_threads(1)  # of this thread, too
    request, until = replace(session.evaluators.request, gpu=datasheets.USUAL), time.monotonic() + SECONDS
    try:
        with closing(session.evaluators.runner()) as runner:
            ask_to_load(runner, session.request)
            for pair in session.asked.evaluated():
                if time.monotonic() > until:
                    raise NotMeasured("not evaluated: the cases before it took too long")
                trial = attempt(runner, *pair, session.names[pair[0].entry], request)
                tried[session.asked.case_id(pair)].set_result(trial)
    except Exception as lost:  # of a file that is lost in the evaluator alone
        for future in tried.values():
            if not future.done():
                future.set_exception(lost)

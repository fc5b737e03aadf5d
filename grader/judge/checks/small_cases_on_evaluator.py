"""The check of what a GPU does not show, made beside one: addresses and races of small cases, evaluated.

A lane that is loaded beside its tensor and thrown away leaves every value right there. A runner of its own
tries the cases in the background, from the first case on where there are cores for it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import ask_to_load
from grader.challenge.harness.trial import Trial
from grader.diagnosis.diagnose import diagnose_or_say
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session

SECONDS = 20.0  # after which no other case is begun: what a check may take is a call or two
UNSEEN = "overrun", "race"  # kinds of findings that no GPU shows


def begin(session: Session) -> None:
    """Start trying the cases on a GPU, unless that is begun."""
    if session.evaluated is None and session.asked.evaluated():
        session.evaluated = ThreadPoolExecutor(1).submit(_try_all, session)


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """What the evaluator saw of one case.

    Raises:
        CheckFailed: a kernel loads or stores beside its tensors, or programs meet in an element.
        NotMeasured: it could not be evaluated, and why.
    """
    begin(session)
    trials, why = session.evaluated.result()
    trial = trials.get(session.asked.case_id((challenge, case)))
    if trial is None:
        raise NotMeasured(f"not evaluated: {why}")
    told = [finding for finding in trial.findings if finding.kind in UNSEEN]
    if not told:
        if any(finding.kind == "error" for finding in trial.findings):
            raise NotMeasured(f"not evaluated: {trial.findings[0].reason}")
        return
    trial = replace(trial, findings=told)
    alone = replace(session.evidence, trials=[trial], own=None, lost=None, compiled=False)
    raise CheckFailed("failed", session.cause(trial), diagnose_or_say(alone, trial.findings[0].reason))


def _try_all(session: Session) -> tuple[dict[str, Trial], str]:
    """The cases by name, and why there are not more of them."""
    torch.set_num_threads(1)  # of this thread, too
    request, until = replace(session.evaluators.request, gpu=datasheets.USUAL), time.monotonic() + SECONDS
    trials: dict[str, Trial] = {}
    try:
        with closing(session.evaluators.runner()) as runner:
            ask_to_load(runner, session.request)
            for pair in session.asked.evaluated():
                if time.monotonic() > until:
                    return trials, "the cases before it took too long"
                trials[session.asked.case_id(pair)] = attempt(
                    runner, *pair, session.names[pair[0].entry], request
                )
    except Exception as lost:  # of a file that is lost in the evaluator alone
        return trials, str(lost)
    return trials, ""

"""The check of what a launcher does where it sees a GPU, made without one: the values, evaluated.

A launcher that asks how many SMs there are has as many programs, and no case has more tiles than an H200 has
SMs: so it is told of a single SM as well, where each program has several to do, one after the other, and of
three, which seldom share the tiles evenly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import RunnerLost
from grader.diagnosis.diagnose import diagnose_or_say, seen
from grader.judge.checks.huge_case_addresses import CERTAIN
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.runner_answers import Failed

FEWER = {
    1: "with a single SM, so that each program has more to do than one tile",
    3: "with three SMs, so that some programs have more to do than others",
}
COUNTS = re.compile(rb"multi_?processor_?count", re.IGNORECASE)  # as torch and Triton call it


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """Try one case where tensors say that they lie on a GPU, and torch and Triton speak of one.

    Raises:
        CheckFailed: the file's own lines raised, or a result is wrong.
        NotMeasured: it cannot run what is for GPUs alone.
    """
    gpu = datasheets.GPUS[datasheets.USUAL]
    _try(session, challenge, case, datasheets.USUAL, f"(here an {gpu.name} with {gpu.sms} SMs)", CERTAIN)
    if COUNTS.search(session.request.source):
        for count, said in FEWER.items():
            with suppress(NotMeasured):  # no GPU has so few: what raises there says nothing
                _try(session, challenge, case, f"{datasheets.USUAL}:{count}", said, ())


def _try(
    session: Session, challenge: Challenge, case: Case, gpu: str, called: str, certain: Sequence[str]
) -> None:
    """Try it where there is this GPU.

    Args:
        called: the GPU in words.
        certain: kinds of faults that are the file's own.
    """
    request = replace(session.request, gpu=gpu)
    try:
        walker = session.evaluators.walker(gpu)
        trial = attempt(walker, challenge, case, session.names[challenge.entry], request)
    except RunnerLost as lost:
        session.evaluators.drop_walkers()
        raise NotMeasured(f"not tried: {lost}") from None
    if trial.passed:
        return
    assert trial.answer is not None
    report = trial.answer.report
    if isinstance(report, Failed) and report.fault.kind not in certain:
        raise NotMeasured(f"not tried: {report.fault.type}: {report.fault.first_line}")
    alone = replace(session.evidence, trials=[trial], own=None, lost=None)
    sentence, look_at = diagnose_or_say(alone, trial.findings[0].reason)
    told = f"Where the launcher sees a GPU {called}: {sentence}"
    sight = seen(trial, trial.findings[0], alone)
    why = not sight or sight not in sentence
    raise CheckFailed("failed", session.cause(trial), (told, look_at), why)

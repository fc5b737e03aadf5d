"""The check of what a launcher does where it sees a GPU, made without one: the values, interpreted."""

from __future__ import annotations

from dataclasses import replace

from grader import datasheets
from grader.answers import Failed
from grader.challenge import Case, Challenge
from grader.judge.case.attempt import attempt
from grader.judge.case.link import RunnerLost
from grader.judge.checks.walked import CERTAIN
from grader.judge.diagnosis.diagnose import diagnose_or_say
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.judge.trust import trust


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """Try one case where tensors say that they lie on a GPU, and torch and Triton speak of one.

    Raises:
        CheckFailed: the file's own lines raised, or a result is wrong.
        NotMeasured: the interpreter cannot be trusted with it, or cannot run what is for GPUs alone.
    """
    trust(case, session.evidence.source, session.mute)
    request = replace(session.request, gpu=datasheets.USUAL)
    try:
        walker = session.interpreting.walker()
        trial = attempt(walker, challenge, case, session.names[challenge.entry], request)
    except RunnerLost as lost:
        session.interpreting.drop_walker()
        raise NotMeasured(f"not tried: {lost}") from None
    if trial.passed:
        return
    assert trial.answer is not None
    report = trial.answer.report
    if isinstance(report, Failed) and report.fault.kind not in CERTAIN:
        raise NotMeasured(f"not tried: {report.fault.type}: {report.fault.first_line}")
    alone = replace(session.evidence, trials=[trial], own=None, lost=None)
    sentence, look_at = diagnose_or_say(alone, trial.findings[0].reason)
    gpu = datasheets.GPUS[datasheets.USUAL]
    told = f"Where the launcher sees a GPU (here an {gpu.name} with {gpu.sms} SMs): {sentence}"
    raise CheckFailed("failed", session.cause(trial), (told, look_at))

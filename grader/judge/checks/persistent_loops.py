"""The check of a loop's second turn, in kernels with as many programs whatever the size.

A thousand programs that share the tiles have one each in every small case, and what their loop keeps from one
tile to the next is never asked for. A walk of a huge case tells to what programs come round, and walks of
others at which size they do: there the values are looked at.
"""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import replace
from functools import partial

from grader.challenge import Case, Challenge
from grader.challenge.cases.attempt import attempt
from grader.challenge.cases.runner_client import RunnerLost
from grader.diagnosis.diagnose import diagnose_or_say
from grader.judge.checks import huge_case_addresses
from grader.judge.checks.persistent_loop_sizes import EFFORT, Rounds, coming_round
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.runner_measurements import Walked


def check(session: Session, challenge: Challenge, huge: Walked | None) -> None:
    """Try cases in which programs come round to what they did once in every plain one; once a grading.

    Args:
        huge: the walk of a huge case, which tells what few programs come round to; None where that ended
            early, and the largest of the cases that are there for it must do.

    Raises:
        CheckFailed: a result is wrong, or its runner was lost.
    """
    if not challenge.turns or challenge.entry in session.turned or (huge and not huge.again):
        return
    session.turned.add(challenge.entry)
    huge = huge or _walk(session, challenge, challenge.turns[-1])
    for case, walk in _rounds(session, challenge, huge):
        if walk.overruns:
            raise huge_case_addresses.astray(walk.overruns, _where(case))
        if walk.effort <= EFFORT:
            _try(session, challenge, case)


def _rounds(session: Session, challenge: Challenge, huge: Walked) -> Rounds:
    """The cases to try, from the background where that has them."""
    begun: Future[Rounds] | None = session.rounds.get(challenge.entry)
    if begun:
        with suppress(CancelledError):
            return begun.result()
    return coming_round(challenge, huge, partial(_walk, session, challenge))


def _walk(session: Session, challenge: Challenge, case: Case) -> Walked:
    """To what programs come round there, and how much there is to evaluate; nothing if that is not known."""
    with suppress(NotMeasured):
        return huge_case_addresses.found(huge_case_addresses.walk(session, challenge, case))
    return Walked(0)


def _where(case: Case) -> str:
    return f"With {case.id}, where programs have more than one tile to do: "


def _try(session: Session, challenge: Challenge, case: Case) -> None:
    runner, names = session.ready_runner(), session.names[challenge.entry]
    try:
        trial = attempt(runner, challenge, case, names, session.request)
    except RunnerLost as lost:
        if lost.outcome == "timeout":  # there is much to evaluate: that says nothing of the file
            return session.close()
        raise session.lost(case, lost) from None
    if trial.passed:
        return
    alone = replace(session.evidence, trials=[*session.evidence.trials, trial], own=None, lost=None)
    sentence, look_at = diagnose_or_say(alone, trial.findings[0].reason)
    cause = session.cause(trial)
    reason = f"tried beside it, with {case.id}: {cause['reason']}"
    raise CheckFailed("failed", cause | {"reason": reason}, (f"{_where(case)}{sentence}", look_at))

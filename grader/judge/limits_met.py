"""What a pass is told of: the limits that its checks met, once all of them are done."""

from __future__ import annotations

from dataclasses import replace

from grader.challenge.cases.trial import Trial
from grader.diagnosis.diagnose import diagnose_or_say
from grader.judge.failures import CheckFailed
from grader.judge.session import Session
from grader.verdict import Limit


def limits(session: Session, met: dict[str, CheckFailed]) -> list[Limit]:
    """Each sentence of a kind once; cases that fail by one kind of demand are told together.

    Args:
        met: the checks that ended in a limit, by name.
    """
    found: dict[tuple[str, str], Limit] = {}
    cases: dict[tuple[str, int], list[Trial]] = {}
    names: dict[tuple[str, int], str] = {}
    for name, failed in met.items():
        if failed.trial is None:
            sentence, look_at = failed.told or (str(failed), "")
            limit = Limit(failed.cause["demand"], name, sentence, look_at)
            found.setdefault((limit.demand, limit.says), limit)
        else:
            key = failed.cause["demand"], id(failed.trial.challenge)
            cases.setdefault(key, []).append(replace(failed.trial, limit=False))
            names.setdefault(key, name)
    for key, trials in cases.items():
        seen = replace(session.evidence, trials=[*session.evidence.passed, *trials], lost=None, own=None)
        sentence, look_at = diagnose_or_say(seen, trials[0].findings[0].reason)
        found.setdefault((key[0], sentence), Limit(key[0], names[key], sentence, look_at))
    return list(found.values())

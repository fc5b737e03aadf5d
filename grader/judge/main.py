"""One judge: runs the checks, streams events, ends with the verdict.

{"event": "planned", "checks": ["imports", …]}
{"event": "started", "check": "correct[rows=4-cols=8-fp32]"}
{"event": "checked", "check": {…}}            one Check, as verdict.py has it
{"event": "finished", "status": …, "diagnosis": …, "look_at": …, "edit": …, "pieces": […], "hunt": …, …}
{"event": "refused", "text": …, "flag": …}    nothing to grade; what to add to the command, if that helps
{"event": "broken", "text": …}                a bug of ours
"""

from __future__ import annotations

import traceback
from dataclasses import asdict, replace
from typing import Any

import torch

from grader.challenge.harness.trial import Trial
from grader.claim_result import Claimed
from grader.diagnosis.diagnose import diagnose_or_say
from grader.judge.bug_hunt_progress import hunted
from grader.judge.checks import capability
from grader.judge.failures import CheckFailed
from grader.judge.pieces.partial_progress import pieces
from grader.judge.recheck_on_evaluator import look, trace
from grader.judge.repair.search import repair
from grader.judge.session import Session
from grader.judge.suite import Suite, bar_id
from grader.request import Request
from grader.verdict import Check, Limit, decisive
from grader.wire import Channel

UNSEEN = "No value was seen: every case needs a GPU."
NOTHING: dict[str, Any] = {"seen": {}, "made": [], "pieces": [], "hunt": None}


def judge(request: Request, events: Channel, parent: Channel) -> None:
    """Grade once: the body of a forked judge."""
    try:
        session = Session(request, parent)
        session.wake()
        if request.only and not _matches(session):
            events.send({"event": "refused", "text": _no_such_case(request, session)})
            return
        refusal = capability.refusal(session)
        if refusal:
            events.send({"event": "refused", "text": refusal, "flag": " --cpu"})
            return
        suite = Suite(session, events)
        suite.run()
        session.close()
        session.background.shutdown(wait=False, cancel_futures=True)
        if session.ahead:
            session.ahead.stop()
        session.evaluators.drop_walkers()
        quick = request.fail_fast and decisive(suite.outcomes) is not None
        why = NOTHING if quick else _reasons(session, suite)
        if suite.broken:
            events.send({"event": "broken", "text": suite.broken})
            return
        told = _verdict(session, suite.outcomes, quick)
        fixed = repair(session, told["look_at"]) if request.explain and not quick else None
        told |= {"look_at": fixed.look_at, "edit": fixed.edit} if fixed else {"edit": ""}
        right = told["status"] in ("passed", "slow", "inconclusive")
        told["limits"] = [asdict(limit) for limit in _limits(session, suite.limits)] if right else []
        events.send({"event": "finished", **told, **why})
    except Exception:
        events.send({"event": "broken", "text": traceback.format_exc()})


def _reasons(session: Session, suite: Suite) -> dict[str, Any]:
    """What is looked for once all is tried."""
    seen = look(session, decisive(suite.outcomes))
    return {"seen": seen, "made": trace(session), "pieces": pieces(session), "hunt": hunted(session)}


def _matches(session: Session) -> bool:
    """Whether there is anything of the name that was asked for."""
    cases = session.asked.cases("correct") or session.asked.cases("edges")
    asked = session.asked
    other_ways = asked.walks() or asked.staged() or asked.evaluated()
    parts = asked.having("compilations") or asked.having("operator")
    return bool(cases or asked.relations() or other_ways or parts)


def _no_such_case(request: Request, session: Session) -> str:
    if any(str(request.only) in bar_id(session, c, speed) for c in session.challenges for speed in c.speeds):
        return (
            f'"{request.only}" is a bar for speed, and -k tries values: without it the bar is tried as well'
        )
    if session.device == "cpu" and all(challenge.on_gpu_alone for challenge in session.challenges):
        return "No case can be tried: every case needs a GPU."
    return f'No case matches "{request.only}". There are {session.asked.names_like(str(request.only))}'


def _verdict(session: Session, checks: list[Check], quick: bool) -> dict[str, Any]:
    first = decisive(checks)
    reason = str(first.cause.get("reason", first.outcome)) if first else ""
    sentence, look_at = (reason, "")
    if first and not quick:
        sentence, look_at = diagnose_or_say(session.evidence, reason)
    printed = session.printed.decode(errors="replace")
    status = first.outcome if first else "passed"
    if status == "passed" and session.device == "cpu" and any(c.on_gpu_alone for c in session.challenges):
        status, sentence = "inconclusive", UNSEEN
    # Beside what no time decides, none is shown.
    untimed = first is not None and first.cause.get("fact", "time") != "time"
    device = "cpu" if session.device == "cpu" else torch.cuda.get_device_name()
    return {
        "status": status,
        "device": device,
        "diagnosis": sentence,
        "look_at": look_at,
        "speed": None if untimed else session.speed,
        "beside": "" if first else session.beside,
        "claims": [asdict(claimed) for claimed in _claimed(session)],
        "output": printed,
        **(asdict(session.confined) if session.confined else {}),
    }


def _claimed(session: Session) -> list[Claimed]:
    claims = [(c.entry, claim) for c in session.challenges for claim in c.claims]
    found = [(session.claimed.get((entry, c.says, c.backend, c.part)), c) for entry, c in claims]
    return [Claimed(c.says, c.backend, c.part, c.of_torch, tuple(shapes)) for shapes, c in found if shapes]


def _limits(session: Session, met: dict[str, CheckFailed]) -> list[Limit]:
    """The limits that a pass is told of: each sentence of a kind once, cases that meet one kind together.

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

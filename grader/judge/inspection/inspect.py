"""What is asked of a judge beyond grading: `track inspect`, `track show` and `track dev seeds`.

{"event": "answered", "parts": […]}    one entry a speed bar, or a function where the day has none
{"event": "refused" | "broken", "text": …, "fix": …}
"""

from __future__ import annotations

import math
import traceback
from dataclasses import asdict
from typing import Any

from grader import datasheets
from grader.challenge import Case, Challenge, Speed
from grader.challenge.loading import weight
from grader.diagnosis.fixed_block_sizes import fixed
from grader.judge.checks import import_check
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.judge.speed.compile_for_gpu import Wanted
from grader.judge.speed.predict_call import Seen, foresee, name_of_bar
from grader.performance.predict import speed_facts
from grader.performance.predict.compare_with_solution import profile
from grader.performance.predict.reference_predictions import Ours, ours
from grader.request import Request
from grader.wire import Channel


def answer(request: Request, events: Channel, parent: Channel) -> None:
    """Look inside once: the body of a forked judge."""
    from grader.judge.inspection.access_trace import traced
    from grader.judge.inspection.many_seeds import seeded

    session: Session | None = None
    try:
        session = Session(request, parent)
        import_check.check(session)
        _has_kernels(session)
        parts = {"inspect": inspected, "show": traced, "seeds": seeded}[request.do](session)
        events.send({"event": "answered", "parts": parts})
    except CheckFailed as failed:
        strayed = failed.cause.get("kind") == "bounds"
        fix = "track show" if strayed else "track grade"
        events.send({"event": "refused", "text": str(failed), "fix": fix})
    except NotMeasured as why:
        fix = f"track {request.do}" if request.only else "track grade"
        events.send({"event": "refused", "text": f"Nothing can be shown: {why}.", "fix": fix})
    except Exception:
        events.send({"event": "broken", "text": traceback.format_exc()})
    finally:
        if session is not None:
            session.close()


def _has_kernels(session: Session) -> None:
    """There is something to look at.

    Raises:
        NotMeasured: the kernels cannot run here, or the learner's function is a test, which is handed some.
    """
    if session.request.do != "seeds" and any(challenge.on_gpu_alone for challenge in session.challenges):
        raise NotMeasured("every case needs a GPU")
    tests = [challenge.entry for challenge in session.challenges if challenge.judges]
    if tests and session.request.do != "seeds":
        raise NotMeasured(f"{tests[0]}() is a test, and has no kernel of its own")


def inspected(session: Session) -> list[dict[str, Any]]:
    """Every bar of the day: counts, what the compiler says, the predicted time, and the facts."""
    request = session.request
    wanted = Wanted(request.gpu, request.code)
    parts = []
    for challenge, speed in bars(session):
        seen = foresee(session, challenge, speed, wanted)
        name = name_of_bar(session, challenge, speed)
        reference = ours(name) if wanted.gpu == datasheets.USUAL else None
        parts.append({"name": name, "entry": challenge.entry, "case": speed.case.id, "part": speed.part})
        parts[-1] |= _told(seen, reference, fixed(session.evidence.source, session.evidence.given))
    return parts


def _told(seen: Seen, reference: Ours | None, handed: frozenset[str]) -> dict[str, Any]:
    call, codes = seen
    launches = [
        {**asdict(launch), "compiled": asdict(compiled), "limit": limit, "code": code}
        for launch, compiled, limit, code in zip(
            call.launches, call.compiled, call.limits(), codes, strict=True
        )
    ]
    return {
        "us": call.us,
        "ours_us": reference.us if reference else None,
        "copy_us": call.copy_us,
        "ideal": call.ideal,
        "moved": call.moved,
        "flops": call.products if call.flops else 0.0,
        "at_least": call.at_least,
        "cut": call.cut,
        "facts": [asdict(fact) for fact in speed_facts.facts(call, reference, handed)],
        "profile": profile(call),
        "launches": launches,
    }


def bars(session: Session) -> list[tuple[Challenge, Speed]]:
    """The day's speed bars; where it has none, its largest plain case."""
    given = [(challenge, speed) for challenge in session.challenges for speed in challenge.speeds]
    return given or [
        (challenge, Speed(_largest(challenge), moved=lambda *_: 0))
        for challenge in session.challenges
        if not challenge.probe
    ]


def _largest(challenge: Challenge) -> Case:
    plain = [case for case in challenge.cases if case.group == "correct" and not case.gpu]
    return max(plain or list(challenge.cases), key=lambda case: (weight(case) < math.inf, weight(case)))

"""The speed check without a GPU: facts that were counted and compiled, and a time that follows from them."""

from __future__ import annotations

from dataclasses import asdict

from grader import datasheets
from grader.challenge import Challenge, Speed
from grader.judge.session import CheckFailed, Session
from grader.judge.speed.builds import Wanted
from grader.judge.speed.foresight import foresee
from grader.predict import gates
from grader.predict.beside import paragraph, profile
from grader.predict.prediction import Call, Ours, bar_name, ours
from grader.verdict import SpeedResult

CANNOT_RUN = ("compiles", "shared memory")  # what is no question of speed


def check(session: Session, challenge: Challenge, speed: Speed) -> None:
    """Hold one call at full size against what every GPU asks for.

    Raises:
        CheckFailed: a fact is outside of its margin.
        NotMeasured: nothing can be foretold here.
    """
    call = foresee(session, challenge, speed, Wanted(datasheets.USUAL)).call
    reference = ours(bar_name(session.stem, challenge.entry, speed.case.id, speed.part))
    if reference:
        beside = paragraph(call.us, profile(call), reference, _where(session, challenge, speed))
        session.keep_speed(_result(call, reference), beside)
    found = gates.facts(call, reference)
    failed = [fact for fact in found if not fact.passed]
    if not failed:
        return
    first = failed[0]
    cause = {
        "reason": first.says,
        "fact": first.name,
        "evidence": "predicted",
        "gpu": call.gpu.name,
        "line": first.line,
        "facts": [asdict(fact) for fact in found],
    }
    look_at = f"line {first.line}" if first.line else first.name
    raise CheckFailed("failed" if first.name in CANNOT_RUN else "slow", cause, (first.says, look_at))


def _where(session: Session, challenge: Challenge, speed: Speed) -> str:
    """On which bar, where the day has several."""
    if sum(len(one.speeds) for one in session.challenges) == 1:
        return ""
    return f" in {challenge.entry}() {speed.case.id}" + f" {speed.part}" * (speed.part != "forward")


def _result(call: Call, reference: Ours) -> dict[str, object]:
    needed = reference.times * reference.us
    ratio = needed / call.us
    result = SpeedResult(
        evidence="predicted",
        yours_us=call.us,
        needed_us=needed,
        torch_us=0.0,
        copy_us=call.copy_us,
        of_copy=call.copy_us / call.us,
        of_torch=0.0,
        bar=f"{reference.times:.3g}× what is predicted for our solution",
        ratio=ratio,
        interval=(ratio, ratio),
        rounds=0,
        gpu=call.gpu.name,
    )
    return asdict(result)

"""Which elements each program touches, on a small case: for `track show`."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader.challenge import Challenge
from grader.judge import reports
from grader.judge.link import RunnerLost, pack_arguments
from grader.judge.oracle import asked
from grader.judge.session import NotMeasured, Session
from grader.judge.trial import draw

BEST = 2500  # elements of the largest input: enough for several programs, few enough to be seen
TRIED = 6  # cases, of which the one that shows most is taken
ASPECT = 0.3  # how much a long and narrow tensor is worse


def traced(session: Session, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Every function of the day on one small case: its launches, program by program (see meter/trace.py)."""
    return [_part(session, challenge) for challenge in session.challenges if not challenge.probe]


def _part(session: Session, challenge: Challenge) -> dict[str, Any]:
    """Of the cases that fit into a picture, the one that shows most programs, and masked lanes."""
    plain = [case for case in challenge.cases if case.group == "correct" and not case.gpu]
    inputs = {case.id: draw(challenge, case, session.seed, "cpu") for case in plain}
    fitting = sorted(plain, key=lambda case: _strain(inputs[case.id]))[:TRIED]
    drawn = [(case, _launches(session, challenge, inputs[case.id])) for case in fitting]
    case, launches = max(drawn, key=lambda one: _shows(one[1]))
    return {"entry": challenge.entry, "case": case.id, "launches": launches}


def _launches(session: Session, challenge: Challenge, arguments: tuple[Any, ...]) -> list[dict[str, Any]]:
    specs, blobs = pack_arguments(arguments, session.names[challenge.entry][: len(arguments)])
    ask = {"do": "trace", "entry": challenge.entry, "arguments": specs, "of": asked(challenge, arguments)}
    try:
        report, _ = session.ready_runner().ask(ask, reports.TRACED, blobs, timeout=session.timeout)
    except RunnerLost as lost:
        raise NotMeasured(lost.reason) from None
    if "fault" in report:
        fault = report["fault"]
        raise NotMeasured(f"line {fault['line']} raised {fault['type']}: {fault['message'].splitlines()[0]}")
    return list(report["launches"])


def _shows(launches: list[dict[str, Any]]) -> tuple[int, bool]:
    """Programs, and whether a mask is at work."""
    programs = [program for launch in launches for program in launch["programs"]]
    steps = (step for program in programs for step in program["steps"])
    return len(programs), any(step["masked"] or step["outside"] for step in steps)


def _strain(arguments: tuple[Any, ...]) -> float:
    """How far the largest tensor is from what a picture can hold."""
    tensors = [value for value in arguments if isinstance(value, torch.Tensor) and value.numel()]
    largest = max(tensors, key=torch.Tensor.numel, default=None)
    if largest is None:
        return math.inf
    sides = [side for side in largest.shape if side > 0]
    return abs(math.log(largest.numel() / BEST)) + ASPECT * math.log(
        max(sides, default=1) / min(sides, default=1)
    )

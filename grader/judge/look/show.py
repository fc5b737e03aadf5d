"""Which elements each program touches, on a small case: for `track show`."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import torch

from grader.answers import Failed, Traced
from grader.challenge import Case, Challenge, Relation
from grader.judge.case.link import RunnerLost, pack_arguments
from grader.judge.case.oracle import gradient_positions
from grader.judge.case.trial import draw
from grader.judge.session import NotMeasured, Session
from grader.meter.trace import TracedLaunch

CELLS = 4000  # of the largest tensor, that make the best picture
TRIED = 10  # cases, of which the one that shows most is taken
NAMED = 5  # cases, of which the names are said
MANY = 9  # programs, from which on more show nothing new


def traced(session: Session) -> list[dict[str, Any]]:
    """Every function of the day on one small case: its launches, program by program (see meter/trace.py).

    Raises:
        NotMeasured: no case is called like that, or the call ends before anything is seen.
    """
    parts = [_part(session, challenge) for challenge in session.challenges if not challenge.probe]
    found = [part for part in parts if part]
    if not found:
        raise NotMeasured(f'no case matches "{session.request.only}" (there are {_names(session)})')
    return found


def _names(session: Session) -> str:
    """A few of the day's cases, spread over all of them."""
    names = [case.id for challenge in session.challenges if not challenge.probe for case in challenge.cases]
    return ", ".join(names[:: max(len(names) // NAMED, 1)][:NAMED]) + ", …"


def _part(session: Session, challenge: Challenge) -> dict[str, Any]:
    """Of the cases that fit into a picture, the one that shows most; empty where none is asked for."""
    inputs = {
        case.id: draw(challenge, case, session.request.seed, "cpu") for case in _asked(session, challenge)
    }
    if not inputs:
        return {}
    fitting = sorted(inputs, key=lambda name: _far(inputs[name]))[:TRIED]
    drawn = {name: _launches(session, challenge, inputs[name]) for name in fitting}
    best = max(fitting, key=lambda name: _worth(drawn[name], inputs[name]))
    return {"entry": challenge.entry, "case": best, "launches": [asdict(launch) for launch in drawn[best]]}


def _asked(session: Session, challenge: Challenge) -> list[Case]:
    """The cases that a picture may be of: plain ones, or those that -k names as a failed grading does."""
    only = session.request.only
    if only is None:
        return [case for case in challenge.cases if case.group == "correct" and not case.gpu]
    tried: list[Case | Relation] = [*challenge.cases, *challenge.relations]
    named = [one for one in tried if only in session.case_id((challenge, one)) and not one.gpu]
    return [one.case if isinstance(one, Relation) else one for one in named]


def _launches(session: Session, challenge: Challenge, arguments: tuple[Any, ...]) -> list[TracedLaunch]:
    specs, blobs = pack_arguments(arguments, session.names[challenge.entry][: len(arguments)])
    ask = {
        "do": "trace",
        "entry": challenge.entry,
        "arguments": specs,
        "of": gradient_positions(challenge, arguments),
    }
    try:
        report, _ = session.ready_runner().ask(ask, Traced, blobs, timeout=session.request.call_timeout)
    except RunnerLost as lost:
        raise NotMeasured(lost.reason) from None
    if isinstance(report, Failed):
        fault = report.fault
        raise NotMeasured(f"line {fault.line} raised {fault.type}: {fault.first_line}")
    return report.launches


def _worth(launches: list[TracedLaunch], arguments: tuple[Any, ...]) -> float:
    """What there is to see: something wrong, several programs, masks at work, tensors that are no threads."""
    programs = max((launch.total for launch in launches), default=0)
    steps = [step for launch in launches for program in launch.programs for step in program.steps]
    masked = any(step.left for step in steps)
    wrong = any(launch.findings for launch in launches)
    return (
        2.0 * wrong
        + min(programs, MANY) / MANY
        + 0.5 * masked
        - 0.1 * _narrow(arguments)
        - 0.1 * _far(arguments)
    )


def _tensors(arguments: tuple[Any, ...]) -> list[torch.Tensor]:
    return [value for value in arguments if isinstance(value, torch.Tensor) and value.numel()]


def _far(arguments: tuple[Any, ...]) -> float:
    """Doublings between the largest tensor and what makes a good picture."""
    largest = max((tensor.numel() for tensor in _tensors(arguments)), default=1)
    return abs(math.log2(largest / CELLS))


def _narrow(arguments: tuple[Any, ...]) -> float:
    """Doublings between the sides of the narrowest matrix."""
    sides = [sorted(tensor.shape)[-2:] for tensor in _tensors(arguments) if tensor.dim() > 1]
    return max((math.log2(long / max(short, 1)) for short, long in sides), default=0.0)

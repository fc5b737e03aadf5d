"""Which elements each program touches, and what a kernel makes of an image: for `track show`."""

from __future__ import annotations

import base64
import math
from dataclasses import asdict
from typing import Any

import torch

from grader.challenge import Case, Challenge, Relation
from grader.challenge.harness.answer_checks import form_findings
from grader.challenge.harness.argument_serialization import pack_arguments
from grader.challenge.harness.case_name_glossary import WAYS
from grader.challenge.harness.oracle import gradient_positions
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import RunnerLost
from grader.challenge.harness.trial import draw, largest
from grader.diagnosis.triton_errors import slip
from grader.judge.failures import NotMeasured
from grader.judge.session import Session
from grader.performance.counting.access_trace import TracedLaunch
from grader.runner_answers import Failed, Fault
from grader.runner_measurements import Traced

CELLS = 4000  # of the largest tensor, that make the best picture
TRIED = 10  # cases, of which the one that shows most is taken

Tried = tuple[Challenge, Case | Relation]


def traced(session: Session) -> list[dict[str, Any]]:
    """Every function of the day on one small case: its launches, program by program (see access_trace.py).

    Raises:
        NotMeasured: no case that can be drawn is called like that, or the call ends before anything is seen.
    """
    asked = _named(session) if session.request.only is not None else _plain(session)
    cases: dict[str, list[tuple[Challenge, Case]]] = {}
    for challenge, one in asked:
        case = one.case if isinstance(one, Relation) else one
        cases.setdefault(challenge.entry, []).append((challenge, case))
    return [_part(session, entry, found) for entry, found in cases.items()]


def _plain(session: Session) -> list[Tried]:
    """What a picture may be of when no case is asked for."""
    first = {c.entry: c for c in reversed(session.challenges) if not c.probe}
    return [
        (challenge, case)
        for challenge in session.challenges
        if challenge is first.get(challenge.entry)
        for case in challenge.cases
        if case.group == "correct" and not case.gpu
    ]


def _named(session: Session) -> list[Tried]:
    """What -k names as a failed grading does: the case that is called so, or all that are called like it.

    Raises:
        NotMeasured: nothing is, or it cannot be drawn, and why.
    """
    only = str(session.request.only)
    for way in WAYS:
        only = only.removesuffix(f"-{way}")
    tried: list[Tried] = [(c, case) for c in session.challenges for case in c.cases]
    tried += [(c, relation) for c in session.challenges for relation in c.relations]
    named = [pair for pair in tried if only in session.asked.case_id(pair)]
    named = [pair for pair in named if only == session.asked.case_id(pair)] or named
    if not named:
        typed = str(session.request.only)
        raise NotMeasured(f'no case matches "{typed}" (there are {session.asked.names_like(typed)})')
    drawable = [pair for pair in named if not pair[0].probe and not pair[1].gpu]
    if not drawable:
        (challenge, _), name = named[0], session.asked.case_id(named[0])
        alone = f"{challenge.entry} is called by itself there, and touches no memory"
        raise NotMeasured(f"{name}: {alone}" if challenge.probe else f"{name} is too large for a picture")
    return drawable


def _part(session: Session, entry: str, cases: list[tuple[Challenge, Case]]) -> dict[str, Any]:
    """Of the cases that fit into a picture the one that shows most: what is wrong, then the day's idea."""
    tried = [(c, case, draw(c, case, session.request.seed, "cpu")) for c, case in cases]
    tried.sort(key=lambda one: (not _chosen(*one[:2]), _far(one[2])))
    drawn = [(*one, _launches(session, one[0], one[2])) for one in tried[:TRIED]]
    challenge, case, _, launches = max(
        drawn, key=lambda one: (_wrong(one[3]), _chosen(*one[:2]), _worth(one[3]))
    )
    part = {"entry": entry, "case": case.id, "launches": [asdict(launch) for launch in launches]}
    return part | pictured(session, challenge)


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
        raise NotMeasured(_slipped(report.fault, session.evidence.source))
    return report.launches


def _chosen(challenge: Challenge, case: Case) -> bool:
    """Whether the day says that this case shows its idea."""
    return challenge.shown is not None and challenge.shown.id == case.id


def _wrong(launches: list[TracedLaunch]) -> bool:
    return any(launch.findings for launch in launches)


def _slipped(fault: Fault, source: str) -> str:
    """What the exception means, where that is known, as a grading words it."""
    told = slip(asdict(fault), source)
    line = told.line if told else fault.line
    where = f"line {line}" if line else "your code"
    if told:
        return f"{where} does not run. {told.says.rstrip('.')}"
    return f"{where} raised {fault.type}: {fault.first_line}"


def _worth(launches: list[TracedLaunch]) -> int:
    """What there is to see: masks at work, and several programs."""
    steps = [step for launch in launches for program in launch.programs for step in program.steps]
    return any(step.left for step in steps) + any(launch.total > 1 for launch in launches)


def _far(arguments: tuple[Any, ...]) -> float:
    """Doublings between the largest tensor and what makes a good picture."""
    return abs(math.log2(max(largest(arguments), 1) / CELLS))


def pictured(session: Session, challenge: Challenge) -> dict[str, Any]:
    """As `picture` the image before and after, or a film; nothing where the result has not its form."""
    if challenge.image is None:
        return {}
    arguments, names = challenge.image(), session.names[challenge.entry]
    try:
        trial = attempt(
            session.ready_runner(), challenge, challenge.cases[0], names, session.request, arguments
        )
    except RunnerLost:
        return {}
    if trial.answer is None or form_findings(trial):
        return {}
    (result,) = trial.answer.outputs
    images = [result] if result.dim() == 4 else [arguments[0], result]
    return {"picture": [_packed(image) for image in images]}


def _packed(image: torch.Tensor) -> dict[str, Any]:
    """Its bytes as text, for an event has room for no others."""
    pixels = image.float().nan_to_num().clamp(0, 255).byte()
    return {"shape": list(image.shape), "bytes": base64.b64encode(pixels.numpy().tobytes()).decode()}

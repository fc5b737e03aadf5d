"""What the compiler says of the kernels of a grading without a GPU, asked for while the cases run.

The front end has taken each launch of a case before it was evaluated. What is left to ask is what a launcher
does where it sees a GPU, what else an autotuner would try, and what later passes refuse.

The launchers are asked about some cases of each function, dtype and set of flags: the smallest, the largest,
those with most of one size, and one of each way to lie in memory. Launches of one kernel are alike if types
and options are. Of those the one with the largest tile is compiled, until it is known whether it compiles.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.cases.oracle import gradient_positions
from grader.challenge.cases.packing import pack_arguments
from grader.challenge.cases.runner_client import Runner, RunnerLost, ask_to_load
from grader.challenge.cases.trial import draw
from grader.challenge.loading import tallest, weight
from grader.diagnosis.triton_errors import slip
from grader.judge.compile_queue import length
from grader.judge.failures import NotMeasured
from grader.judge.session import Session
from grader.judge.speed.compile_for_gpu import builder
from grader.runner_answers import Failed, Fault
from grader.runner_measurements import Accepted, Surveyed

MOST = 24  # launches; a tenth of a second each, a third on the last days
TIMEOUT = 10.0  # seconds for one call, or one kernel
SHEET = datasheets.sheet(datasheets.USUAL)

Asked = tuple[Challenge, Case]
Question = tuple[str, dict[str, Any], list[Any]]  # a case's name, and what its runner is asked


@dataclass(frozen=True)
class Told:
    """What the compiler said of one launch.

    Attributes:
        case: that it is from.
        kernel, line: its name, and where it begins in the learner's file.
        tuned: an autotuner tried it, and takes another where this one does not fit.
        shared: bytes of shared memory of a program; None where that is not known.
        fault: why it does not compile.
        unknown: why that is not known.
    """

    case: str
    kernel: str
    line: int
    tuned: bool
    shared: int | None = None
    fault: Fault | None = None
    unknown: str = ""


def wanted(session: Session) -> bool:
    """Whether to ask: not on a GPU, where kernels are compiled to run, and not for single cases."""
    return session.device == "cpu" and session.request.cases and not session.request.only


def begin(session: Session) -> Future[list[Told]] | None:
    """Start asking; None where that is not wanted."""
    if not wanted(session):
        return None
    asked = [question(session, *pair) for pair in _chosen(session)]
    # What is given numbers alone launches nothing.
    questions = [one for one in asked if any("dtype" in spec for spec in one[1]["arguments"])]
    return ThreadPoolExecutor(1).submit(_answers, session, questions)


def _chosen(session: Session) -> list[Asked]:
    """The smallest and the largest cases, then others with other tiles or strides, perhaps."""
    kinds: dict[Any, list[Asked]] = {}
    pairs = session.asked.cases("correct") + session.asked.cases("edges")
    for challenge, case in sorted(pairs, key=lambda pair: weight(pair[1])):
        flags = {name: v for name, v in case.sizes.items() if isinstance(v, bool | None)}
        if not challenge.probe and not challenge.judges and weight(case) < math.inf:
            kinds.setdefault((challenge.entry, case.dtype, str(flags)), []).append((challenge, case))
    alike = list(kinds.values())
    ends = [pairs[0] for pairs in alike] + [pairs[-1] for pairs in alike if pairs[1:]]
    return ends + [pair for pairs in alike for pair in _spread(pairs) if pair not in (pairs[0], pairs[-1])]


def _spread(pairs: list[Asked]) -> list[Asked]:
    """Of cases alike the one with most of each size, and the first of each way to lie in memory."""
    owner = {case: challenge for challenge, case in pairs}
    layouts = {_layouts(case): case for _, case in reversed(pairs)}
    chosen = dict.fromkeys([*tallest([case for _, case in pairs]), *layouts.values()])
    return [(owner[case], case) for case in chosen]


def _layouts(case: Case) -> tuple[Any, ...]:
    """How all inputs lie in memory, and single ones that a case says it of."""
    return case.layout, *((name, way) for name, way in case.sizes.items() if name.endswith("layout"))


def question(session: Session, challenge: Challenge, case: Case) -> Question:
    """One call, as a scout is asked about it."""
    arguments = draw(challenge, case, session.request.seed, "cpu")
    specs, blobs = pack_arguments(arguments, session.names[challenge.entry][: len(arguments)])
    of = gradient_positions(challenge, arguments)
    asked: dict[str, Any] = {
        "do": "survey",
        "configs": 0,
        "layout": "contiguous",
        "entry": challenge.entry,
        "probe": challenge.probe,
        "arguments": specs,
        "upstream": [],
        "of": of,
        "gpu": SHEET,
    }
    return session.asked.case_id((challenge, case)), asked, blobs


def _answers(session: Session, questions: list[Question]) -> list[Told]:
    torch.set_num_threads(1)  # of this thread, too
    largest: dict[str, tuple[str, dict[str, Any]]] = {}
    with suppress(RunnerLost):  # what it does on a GPU is not known, and the cases show what it does here
        for case, recipe in surveyed(session, questions):
            kind = _kind(case, recipe)
            if kind not in largest or length(recipe) > length(largest[kind][1]):
                largest[kind] = case, recipe
    if questions and not largest:
        raise NotMeasured("no launch is seen where the launcher is told of a GPU")
    compiler = builder(session, SHEET) if largest and not session.evidence.failed else None
    source = session.evidence.source
    try:
        # Once a case has failed no check asks any more, and whoever looks for the reason wants the core.
        return [
            _told(None if at >= MOST or session.evidence.failed else compiler, source, *launch)
            for at, launch in enumerate(largest.values())
        ]
    except RunnerLost as lost:
        raise NotMeasured(lost.reason) from None
    finally:
        if compiler:
            compiler.close()


def _kind(case: str, recipe: dict[str, Any]) -> str:
    """What tells a launch from others of which one is compiled: all but its integers.

    What an autotuner tries is judged beside what else it tried for that call: all of it.
    """
    if recipe["tuned"]:
        return json.dumps([recipe, case], sort_keys=True)
    words = {n: "int" if type(word) is int else word for n, word in recipe.get("arguments", {}).items()}
    types = {n: {**word, "aligned": True} if isinstance(word, dict) else word for n, word in words.items()}
    return json.dumps({**recipe, "arguments": types}, sort_keys=True)


def surveyed(session: Session, questions: list[Question]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each call would launch on a GPU.

    Raises:
        RunnerLost: the scout went down, or one call took too long.
    """
    scout = Runner(session.parent, "scout")
    try:
        ask_to_load(scout, session.request, gpu=SHEET)
        for case, asked, blobs in questions:
            report, _ = scout.ask(asked, Surveyed, blobs, timeout=TIMEOUT)
            if not isinstance(report, Failed):
                yield from ((case, recipe) for recipe in report.recipes)
    finally:
        scout.close()


def _told(compiler: Runner | None, source: str, case: str, recipe: dict[str, Any]) -> Told:
    told = {"case": case, "tuned": recipe["tuned"]}
    told |= {name: recipe.get(name, default) for name, default in (("kernel", ""), ("line", 0))}
    if compiler is None or "unknown" in recipe:
        return Told(**told, unknown=recipe.get("unknown", "one of many"))
    report, _ = compiler.ask({"do": "accept", "recipe": recipe}, Accepted, timeout=TIMEOUT)
    if isinstance(report, Accepted):
        return Told(**told, shared=report.shared)
    if report.fault.kind == "compile" or slip(asdict(report.fault), source):
        return Told(**told, fault=report.fault)
    return Told(**told, unknown=f"{report.fault.type}: {report.fault.first_line}")

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
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.harness.oracle import Values, gradient_positions, result_dtypes, values_of
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load
from grader.challenge.harness.trial import draw_upstream, largest
from grader.challenge.loading import tallest, weight
from grader.diagnosis.triton_errors import slip
from grader.judge.failures import NotMeasured
from grader.judge.session import Session
from grader.judge.speed.compile_for_gpu import builder
from grader.judge.speed.full_size_inputs import hollow_inputs, hollow_specs
from grader.performance.counting.fake_tensors import LARGE, Hollow
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
    return session.background.submit(_answers, session, questions)


def _chosen(session: Session) -> list[Asked]:
    """Of cases alike the smallest, the largest, that with most of each size, and one of each way to lie in
    memory; first those of all kinds that come first.
    """
    kinds: dict[Any, list[Asked]] = {}
    pairs = session.asked.cases("correct") + session.asked.cases("edges")
    for challenge, case in sorted(pairs, key=lambda pair: weight(pair[1])):
        flags = {name: v for name, v in case.sizes.items() if isinstance(v, bool | None)}
        if not challenge.probe and not challenge.judges and weight(case) < math.inf:
            kinds.setdefault((challenge.entry, case.dtype, str(flags)), []).append((challenge, case))
    turns = zip_longest(*map(_spread, kinds.values()))
    return [pair for turn in turns for pair in turn if pair]


def _spread(pairs: list[Asked]) -> list[Asked]:
    owner = {case: challenge for challenge, case in pairs}
    cases = list(owner)
    layouts = {
        (case.layout, *((name, way) for name, way in case.sizes.items() if name.endswith("layout"))): case
        for case in reversed(cases)
    }
    chosen = dict.fromkeys([cases[0], cases[-1], *tallest(cases), *layouts.values()])
    return [(owner[case], case) for case in chosen]


def question(session: Session, challenge: Challenge, case: Case, part: str = "both") -> Question:
    """One call, as a runner is asked about it."""
    blobs: list[memoryview] = []
    arguments, specs = hollow_inputs(challenge, case, session.request.seed, blobs)
    of = gradient_positions(challenge, arguments) if part != "forward" else []
    upstream = _upstream(challenge, case, arguments, session.request.seed) if of else ()
    asked = {
        "do": "survey",
        "entry": challenge.entry,
        "probe": challenge.probe,
        "arguments": specs,
        "of": of,
        "upstream": hollow_specs(upstream, blobs),
        "layout": case.upstream,
        "configs": 0,
        "gpu": SHEET,
    }
    return session.asked.case_id((challenge, case)), asked, blobs


def _upstream(challenge: Challenge, case: Case, arguments: Values, seed: int) -> Values:
    """Gradients as the case lays them out; none for large ones, which a runner lays out."""
    if largest(arguments) >= LARGE:
        return ()
    with Hollow(lambda *_: None):
        outputs = values_of(challenge, arguments)
    dtypes = result_dtypes(challenge.returns, outputs)
    shaped = [out.to(dtype) if dtype else out for out, dtype in zip(outputs, dtypes, strict=True)]
    return draw_upstream(case, tuple(shaped), seed, "cpu", len(challenge.writes))


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
    words = [_numberless(recipe.get("arguments", {}))]
    words += [recipe.get(name) for name in ("kernel", "options", "unknown")]
    return json.dumps(words, sort_keys=True)


def _numberless(word: Any) -> Any:
    """An argument as a recipe has it, without its numbers and its alignment."""
    if isinstance(word, dict):
        return {name: _numberless(one) for name, one in word.items() if name not in ("aligned", "text")}
    if isinstance(word, list | tuple):
        return [_numberless(one) for one in word]
    return 0 if type(word) is int else word


def surveyed(session: Session, questions: list[Question]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each call would launch on a GPU.

    Raises:
        RunnerLost: the runner went down, or one call took too long.
    """
    runner = session.evaluators.runner()
    try:
        ask_to_load(runner, session.request)
        for case, asked, blobs in questions:
            report, _ = runner.ask(asked, Surveyed, blobs, timeout=TIMEOUT)
            if not isinstance(report, Failed):
                yield from ((case, recipe) for recipe in report.recipes)
    finally:
        runner.close()


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


def length(recipe: dict[str, Any]) -> int:
    """Larger where a compilation is likely to take longer, or to need more memory; no unit.

    A product of fp32 becomes single multiplications. Of days 16, 18 and 34 the ten first by this take 80 to
    100 % of the time of the ten longest.
    """
    given = recipe.get("arguments", {})
    sizes = (given[name] for name in recipe.get("constants", ()) if type(given[name]) is int)
    dtypes = (value["dtype"] for value in given.values() if isinstance(value, dict) and "dtype" in value)
    widths: list[int] = [getattr(torch, dtype).itemsize for dtype in dtypes]
    tile: int = math.prod(size for size in sizes if size > 0)
    return tile * min(widths, default=1) ** 3

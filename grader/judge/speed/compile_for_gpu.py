"""Launches compiled in other processes, two at a time: that is most of the time that a prediction takes."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from grader import datasheets
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load
from grader.diagnosis.triton_errors import slip
from grader.judge.failures import NotMeasured
from grader.judge.session import Session
from grader.performance.counting.counts import LaunchCounts
from grader.performance.predict.prediction import Compiled
from grader.runner_answers import Failed
from grader.runner_measurements import Built

TIMEOUT = 10.0  # seconds for one kernel
AT_ONCE = 2  # as many as the smallest laptop has cores

Recipe = dict[str, Any]
Compilation = tuple[Compiled, str]  # and the code that was asked for


@dataclass(frozen=True)
class Wanted:
    """What of the compiler's work is asked for.

    Attributes:
        gpu: what it is called in datasheets.py.
        code: ptx, sass, ttgir, or nothing.
    """

    gpu: str
    code: str = ""


def build(session: Session, launches: Sequence[LaunchCounts], wanted: Wanted) -> list[Compilation]:
    """What the compiler says of each launch; equal ones are compiled once.

    Raises:
        NotMeasured: the learner's file cannot be loaded to be compiled.
    """
    recipes = {_name(launch.recipe): launch.recipe for launch in launches if not _unknown(launch)}
    queue = deque(recipes.values())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        shares = list(pool.map(lambda _: _share(session, queue, wanted), range(min(AT_ONCE, len(queue)))))
    done = {name: built for share in shares for name, built in share.items()}
    return [done.get(_name(launch.recipe), (Compiled(unknown=_unknown(launch)), "")) for launch in launches]


def _name(recipe: Recipe) -> str:
    return json.dumps(recipe, sort_keys=True)


def _unknown(launch: LaunchCounts) -> str:
    """Why a launch cannot be compiled, in words."""
    return str(launch.recipe.get("unknown", "")) if launch.line else "an operation of torch"


def _share(session: Session, queue: deque[Recipe], wanted: Wanted) -> dict[str, Compilation]:
    """What one builder, and whoever takes the place of one that is lost, gets done of the queue."""
    process: Runner | None = None
    done: dict[str, Compilation] = {}
    while queue:
        try:
            recipe = queue.popleft()
        except IndexError:  # the other was quicker
            break
        process = process or builder(session, datasheets.sheet(wanted.gpu))
        try:
            done[_name(recipe)] = compiled(process, recipe, wanted, session.evidence.source)
        except RunnerLost as lost:
            process.close()
            process = None
            late = lost.outcome == "timeout"
            done[_name(recipe)] = (Compiled(runaway=TIMEOUT) if late else Compiled(unknown=lost.reason)), ""
    if process is not None:
        process.close()
    return done


def builder(session: Session, gpu: dict[str, Any]) -> Runner:
    """A process that has loaded the learner's file to compile it.

    Raises:
        NotMeasured: it cannot be loaded.
    """
    process = Runner(session.parent, "builder")
    try:
        report = ask_to_load(process, session.request, gpu=gpu, evaluated=session.device == "cpu")
    except RunnerLost as lost:
        raise NotMeasured(f"no prediction: {lost.reason}") from None
    if isinstance(report, Failed):
        process.close()
        raise NotMeasured(f"no prediction: loaded to be compiled your file raised {report.fault.message}")
    return process


def compiled(
    process: Runner,
    recipe: Recipe,
    wanted: Wanted,
    source: str,
    gpu: dict[str, Any] | None = None,
    timeout: float = TIMEOUT,
) -> Compilation:
    """What the compiler says of one launch.

    Args:
        gpu: the sheet of the one that it is compiled for, where `wanted` does not name it.
    """
    gpu = gpu or datasheets.sheet(wanted.gpu)
    request = {"do": "build", "recipe": recipe, "gpu": gpu, "code": wanted.code}
    report, _ = process.ask(request, Built, timeout=timeout)
    if not isinstance(report, Failed):
        return Compiled(asdict(report.facts)), report.code
    fault = asdict(report.fault)
    told = slip(fault, source)
    if told:
        return Compiled(fault=fault | {"message": told.says, "line": told.line}), ""
    if report.fault.kind == "compile":
        return Compiled(fault=fault), ""
    return Compiled(unknown=f"{report.fault.type}: {report.fault.first_line}"), ""

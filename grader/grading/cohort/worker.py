"""What runs on a node: one grading, by a warm parent that stays from one grading to the next."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Literal, TypedDict

from grader.course import catalog
from grader.course.setup import nvidia
from grader.course.setup.doctor import unfit
from grader.errors import CannotGrade, TrackError
from grader.grading import grade as engine
from grader.grading.api import graded
from grader.grading.cohort import course_digest
from grader.grading.cohort.store import Conditions
from grader.grading.warm_client import Warm

Device = Literal["cpu", "gpu"]
TRIES = 3  # of a source that ends whoever grades it
PATIENCE = 1.0  # seconds that a warm parent which stopped to answer may take to be gone
_parents: dict[str, Warm] = {}


class Outcome(TypedDict, total=False):
    """What came of a grading: a verdict, or why there is none.

    Attributes:
        verdict: the document of `track grade --json`.
        problem: in one line; no fault of the source.
        ended: so many processes ended with the source in hand, and nobody tries again.
    """

    verdict: dict[str, Any]
    problem: str
    ended: int


def grade(
    key: str,
    source: bytes,
    device: Device,
    options: Mapping[str, Any],
    conditions: Conditions,
    private: Sequence[str] = (),
) -> Outcome:
    """Grade one source on the day that `key` names. A crash is believed once it was seen TRIES times: it may
    be the source's, or come of who else uses this machine.

    Args:
        options: `seed` and `explain`, as of `grade`.
        conditions: of that day.
        private: where submissions and verdicts lie; confined code cannot read it where this node has it, too.
    """
    here = conditions_here(device, conditions.strict).of(catalog.find(key))
    if here != conditions:
        return {"problem": f"the run is for {conditions}, and a node has {here}"}
    outcome: Outcome = {}
    for tried in range(1, TRIES + 1):
        outcome = _once(key, source, device, {**options, "strict": conditions.strict}, private)
        if "verdict" in outcome and outcome["verdict"]["status"] != "crashed":
            break
        outcome = {"ended": tried} if "ended" in outcome else outcome
    return outcome


def _once(
    key: str, source: bytes, device: Device, options: Mapping[str, Any], private: Sequence[str]
) -> Outcome:
    parent, day = _parent(device), catalog.find(key)
    try:
        verdict = graded(day, source, parent, device=device, private=private, **options)
    except TrackError as error:
        with suppress(subprocess.TimeoutExpired):  # its end of a socket closes before it is gone
            parent.process.wait(PATIENCE)
        ended = parent.ready and parent.process.returncode is not None
        return {"ended": 1} if ended else {"problem": error.problem}
    return {"verdict": verdict.to_json()}


def ready(device: Device, strict: bool) -> Conditions:
    """Under what this process grades.

    Raises:
        CannotGrade: it cannot.
    """
    problem = unfit()
    if problem is not None:
        raise CannotGrade(f"{problem.what}.", problem.fix)
    return conditions_here(device, strict)


def _parent(device: Device) -> Warm:
    """The warm parent of this process, for the GPU that it was given this time."""
    key = f"{device} {os.environ.get('CUDA_VISIBLE_DEVICES')}"
    if key not in _parents:
        for other in _parents.values():
            other.stop()
        _parents.clear()
        _parents[key] = Warm(engine.choose_device(device))
    return _parents[key]


def conditions_here(device: Device, strict: bool) -> Conditions:
    """Under what this process grades."""
    found = engine.versions()
    gpu = _gpu(os.environ.get("CUDA_VISIBLE_DEVICES", "0")) if device == "gpu" else "cpu"
    course = f"{found['track']}+{course_digest.engine()}"
    return Conditions(course, found["torch"], found["triton"], gpu, strict)


@cache
def _gpu(visible: str) -> str:
    """The name of the first of the GPUs that this process may see, given by number or UUID."""
    first = visible.partition(",")[0]
    found = enumerate(nvidia.gpus())
    return next((gpu.name for place, gpu in found if first in (str(place), gpu.uuid)), "an unknown GPU")

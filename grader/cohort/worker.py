"""What runs on a node: one grading, by a warm parent that stays from one grading to the next."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict

from grader import catalog
from grader.bare import bare
from grader.cohort.door import graded
from grader.cohort.store import Conditions
from grader.engine import grade as engine
from grader.engine.warm import Warm
from grader.errors import CannotGrade, TrackError
from grader.setup import nvidia
from grader.setup.doctor import unfit

Device = Literal["cpu", "gpu"]
TRIES = 3  # of a source that ends whoever grades it
_parents: dict[str, Warm] = {}


class Outcome(TypedDict, total=False):
    """What came of a grading: a verdict, or why there is none.

    Attributes:
        verdict: the document of `track grade --json`.
        shape: see `shape`; goes with a verdict.
        problem: in one line; no fault of the source.
        ended: so many processes ended with the source in hand, and nobody tries again.
    """

    verdict: dict[str, Any]
    shape: str
    problem: str
    ended: int


def grade(key: str, source: bytes, device: Device, seed: int | None, conditions: Conditions) -> Outcome:
    """Grade one source on the day that `key` names; again, where the warm parent ended with it in hand."""
    here = conditions_here(device, conditions.strict)
    if here != conditions:
        return {"problem": f"the run is for {conditions}, and a node has {here}"}
    for _ in range(TRIES):
        outcome = _once(key, source, device, seed, conditions.strict)
        if "ended" not in outcome:
            return outcome
    return {"ended": TRIES}


def _once(key: str, source: bytes, device: Device, seed: int | None, strict: bool) -> Outcome:
    parent = _parent(device)
    try:
        verdict = graded(catalog.find(key), source, parent, device=device, seed=seed, strict=strict)
    except TrackError as error:
        return {"ended": 1} if _gone(parent) else {"problem": error.problem}
    # A verdict that says so may be true of the source, or of who else uses this machine: seen again, it is.
    if verdict.status == "crashed" and _gone(parent):
        return {"ended": 1}
    return {"verdict": verdict.to_json(), "shape": shape(source)}


def _gone(parent: Warm) -> bool:
    """Whether it ended after it had begun."""
    return parent.ready and parent.process.poll() is not None


def ready(device: Device, strict: bool) -> Conditions:
    """Under what this process grades.

    Raises:
        CannotGrade: it cannot.
    """
    problem = unfit(device)
    if problem is not None:
        raise CannotGrade(f"{problem.what}", problem.fix)
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


def shape(source: bytes) -> str:
    """A digest of the code without comments, docstrings and layout; empty where Python cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = ast.unparse(bare(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()


def conditions_here(device: Device, strict: bool) -> Conditions:
    """Under what this process grades."""
    found = engine.versions()
    gpu = _gpu(os.environ.get("CUDA_VISIBLE_DEVICES", "0")) if device == "gpu" else "cpu (interpreter)"
    return Conditions(f"{found['track']}+{_digest()}", found["torch"], found["triton"], gpu, strict)


@cache
def _gpu(visible: str) -> str:
    """The name of the first of the GPUs that this process may see, given by number or UUID."""
    first = visible.partition(",")[0]
    found = enumerate(nvidia.gpus())
    return next((gpu.name for place, gpu in found if first in (str(place), gpu.uuid)), "an unknown GPU")


@cache
def _digest() -> str:
    """Of all that a verdict depends on: a mended grader or day grades anew."""
    package = Path(catalog.__file__).parent
    trees = {package, catalog.ROOT / "days", catalog.ROOT / "solutions"}
    files = {path for tree in trees for path in tree.rglob("*.py")}
    digest = hashlib.sha256()
    for path in sorted(files, key=str):
        base = package if path.is_relative_to(package) else catalog.ROOT
        digest.update(json.dumps([str(path.relative_to(base)), path.read_text(encoding="utf-8")]).encode())
    return digest.hexdigest()[:8]

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
from grader.errors import TrackError
from grader.setup import nvidia

Device = Literal["cpu", "gpu"]
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
    """Grade one source on the day that `key` names."""
    try:
        here = conditions_here(device, conditions.strict)
        if here != conditions:
            return {"problem": f"the run is for {conditions}, and a node has {here}"}
        verdict = graded(
            catalog.find(key), source, _parent(device), device=device, seed=seed, strict=conditions.strict
        )
    except TrackError as error:
        return {"problem": error.problem}
    return {"verdict": verdict.to_json(), "shape": shape(source)}


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
    gpu = _gpu() if device == "gpu" else "cpu (interpreter)"
    return Conditions(f"{found['track']}+{_digest()}", found["torch"], found["triton"], gpu, strict)


def _gpu() -> str:
    """The name of the GPU that this process was given, or of the first one."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
    found = nvidia.gpus()
    return next((g.name for place, g in enumerate(found) if given in (str(place), g.uuid)), "an unknown GPU")


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

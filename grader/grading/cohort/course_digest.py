"""Digests of what a verdict depends on: the engine, and of each day its own files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.earlier_kernels import taken

CONTENT = catalog.PACKAGE / "_content"
SILENT = (catalog.PACKAGE / "cli", CONTENT)  # no part of the engine


@cache
def engine() -> str:
    """Of all that grades any day; the screens, which no verdict depends on, are left out."""
    files = catalog.PACKAGE.rglob("*.py")
    return _digest(path for path in files if not any(path.is_relative_to(place) for place in SILENT))


@cache
def of_day(day: Day) -> str:
    """Of one day's tests, skeleton and solution, and our kernels that the solution takes from other days."""
    own = {*day.folder.rglob("*.py"), day.solution}
    if day.solution.is_file():
        own |= {one.day.solution for one in taken(day.hidden_tests, day.solution, day.solution.read_bytes())}
    return _digest(path for path in own if path.is_file())


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        ours = path.is_relative_to(catalog.PACKAGE) and not path.is_relative_to(CONTENT)
        base = catalog.PACKAGE if ours else catalog.ROOT
        digest.update(json.dumps([str(path.relative_to(base)), path.read_text(encoding="utf-8")]).encode())
    return digest.hexdigest()[:8]

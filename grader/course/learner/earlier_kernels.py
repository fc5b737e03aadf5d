"""`from mine import attention`: kernels of earlier days, the learner's own where they passed, else ours."""

from __future__ import annotations

import ast
import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.entry_functions import entries
from grader.course.learner import journal, workspace
from grader.course.learner.workspace import Workspace
from grader.errors import TrackError

MODULE = "mine"


@dataclass(frozen=True)
class Earlier:
    """A function that a file takes from an earlier day.

    Attributes:
        day: the one that asks for this function.
        path, source: the file that holds it.
        own: it is the learner's, in the state in which it passed.
    """

    name: str
    day: Day
    path: str
    source: str
    own: bool

    @property
    def told(self) -> str:
        """`attention of day 27: yours`."""
        whose = "yours" if self.own else "ours; yours is taken once it has passed as it stands"
        return f"{self.name} of {self.day.kind} {self.day.key}: {whose}"


def taken(hidden_tests: Path, path: Path, source: bytes) -> tuple[Earlier, ...]:
    """What a file imports from `mine`; a name that no earlier day asks for is left out.

    Args:
        hidden_tests: of the day that the file is for; where that is none of the course, all are earlier.
        path: where the file lies. Beside its folder lie those of a workspace's other days.
    """
    names = tuple(_names(source))
    if not names:  # as of nearly all files
        return ()
    day = next((one for one in catalog.course() if one.hidden_tests == hidden_tests), None)
    found = ((name, _last(name, day)) for name in names)
    around = Workspace(path.parent.parent)
    return tuple(_file(name, one, around) for name, one in found if one is not None)


def brought(name: str, path: Path) -> Earlier | None:
    """What a script at `path` gets by that name; None where no day asks for it.

    In the folder of a day of the workspace it is what comes before that day, elsewhere what comes last.
    """
    around = workspace.find() or Workspace(path.parent.parent)
    before = next((one for one in catalog.course() if around.folder(one) == path.parent), None)
    day = _last(name, before)
    return None if day is None else _file(name, day, around)


def _names(source: bytes) -> Iterator[str]:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module == MODULE and not node.level:
                yield from (alias.name for alias in node.names)


def _last(name: str, before: Day | None) -> Day | None:
    """The day that asks for it: the extra of that name, or the last day before; `softmax` is day 14's."""
    days = [one for one in catalog.course() if before is None or one.anchor <= before.anchor]
    asking = [one for one in days if one != before and name in entries(one)]
    return max(asking, key=lambda one: (one.slug == name, one.kind == "day", one.anchor), default=None)


def _file(name: str, day: Day, around: Workspace) -> Earlier:
    mine = around.kernel(day)
    with contextlib.suppress(OSError, TrackError):
        source = mine.read_bytes()
        if hashlib.sha256(source).hexdigest() in _passed(around, day):
            return Earlier(name, day, str(mine), source.decode(), own=True)
    if not day.solution.is_file():
        problem = f"{name} must be yours: our solution of {day.kind} {day.key} is not in this edition."
        raise TrackError(f"{problem} It is taken once it has passed.", f"track start {day.key}")
    return Earlier(name, day, str(day.solution), day.solution.read_text(encoding="utf-8"), own=False)


def _passed(around: Workspace, day: Day) -> set[object]:
    """The files of a day that passed whole gradings, by their SHA-256.

    A learner can write that into the journal by hand, and wins nothing: each function is judged by what it
    computes, the honest check looks into an imported file as into the own one, and our solution is there for
    everybody.
    """
    records = journal.read(around.journal).records
    whole = (r for r in records if r["event"] == "graded" and r["day"] == day.key and r.get("only") is None)
    return {record.get("sha256") for record in whole if record.get("status") == "passed"}

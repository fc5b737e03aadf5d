"""A task of one's own: a folder outside of the course with a hidden_tests.py, graded as a day is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.errors import UnknownDay

HIDDEN_TESTS = "hidden_tests.py"


@dataclass(frozen=True)
class Task(Day):
    """A folder with a hidden_tests.py; README.md, kernel.py (the skeleton) and solution.py are optional.

    Its hidden_tests.py runs in the judge, unconfined, as the course's own: it must be code that you trust.
    """

    root: Path  # without links

    @property
    def folder(self) -> Path:
        return self.root

    @property
    def key(self) -> Key:
        """From the current folder where it lies below it, else in full; a word with a `/` is no day's."""
        here = Path.cwd()
        below = self.folder != here and self.folder.is_relative_to(here)
        return f"{self.folder.relative_to(here)}/" if below else str(self.folder)

    @property
    def kind(self) -> str:
        return "task"

    @property
    def solution(self) -> Path:
        return self.folder / "solution.py"


def at(folder: Path) -> Day | None:
    """The task in that folder; the day, where it is the course's; None where it has no hidden_tests.py."""
    try:
        root = folder.expanduser().resolve()
        if not (root / HIDDEN_TESTS).is_file():
            return None
    except (OSError, RuntimeError, ValueError):  # words that no path can have
        return None
    own = (day for day in catalog.course() if day.folder.resolve() == root)
    return next(own, Task(None, root.name, root))


def find(what: str) -> Day:
    """What `catalog.find` finds, or the task in a folder of that name. A word with a `/` is a folder.

    Raises:
        UnknownDay: nothing answers to it.
    """
    folder = Path(what)
    if "/" in what and (task := at(folder)):
        return task
    try:
        return catalog.find(what)
    except UnknownDay:
        if task := at(folder):
            return task
        if "/" not in what and not folder.is_dir():
            raise
    if not folder.is_dir():
        raise UnknownDay(f"There is no folder {what}.", "track list")
    example = next((path.parent for path in sorted(folder.glob(f"*/{HIDDEN_TESTS}"))), "FOLDER")
    problem = f"{what} is no task: there is no {HIDDEN_TESTS} in that folder."
    raise UnknownDay(problem, f"track grade {example} --file FILE")

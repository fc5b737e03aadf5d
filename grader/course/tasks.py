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

    Attributes:
        root: the folder, without links.
        typed: what names it in a command.
    """

    root: Path
    typed: str

    @property
    def key(self) -> Key:
        return self.typed

    @property
    def kind(self) -> str:
        return "task"

    @property
    def name(self) -> str:
        return f"Task {self.slug}"

    @property
    def heading(self) -> str:
        return f"Task · {self.title}"

    @property
    def anchor(self) -> int:
        return 0

    @property
    def folder(self) -> Path:
        return self.root

    @property
    def solution(self) -> Path:
        return self.root / "solution.py"

    @property
    def to_fill_in(self) -> bool:
        return self.skeleton.is_file() and super().to_fill_in

    @property
    def title(self) -> str:
        return super().title if self.lesson.is_file() else self.slug

    @property
    def secret(self) -> tuple[str, ...]:
        """What a confined file may not read, not even where it lies beside it."""
        return str(self.root), str(self.hidden_tests), str(self.solution)


def at(folder: str | Path) -> Day | None:
    """The task whose folder this is; the day, where it is one of the course's; None where it is no task's."""
    root = Path(folder).expanduser()
    try:
        if not (root / HIDDEN_TESTS).is_file():
            return None
        root = root.resolve()
    except (OSError, ValueError):  # words that no path can have
        return None
    own = next((day for day in catalog.course() if day.folder.resolve() == root), None)
    return own or Task(None, root.name, root, _typed(root))


def find(what: str) -> Day:
    """What `catalog.find` finds, or the task in a folder of that name. A word with a `/` is a folder.

    Raises:
        UnknownDay: nothing answers to it.
    """
    if "/" in what and (task := at(what)):
        return task
    try:
        return catalog.find(what)
    except UnknownDay:
        if task := at(what):
            return task
        if Path(what).is_dir():
            example = next(iter(sorted(Path(what).glob(f"*/{HIDDEN_TESTS}"))), None)
            named = example.parent if example else "FOLDER"
            problem = f"{what} is no task: there is no {HIDDEN_TESTS} in that folder."
            raise UnknownDay(problem, f"track grade {named} --file FILE") from None
        raise


def _typed(root: Path) -> str:
    """From the current folder where it lies below it, else in full; a word with a `/` is no day's."""
    here = Path.cwd()
    return f"{root.relative_to(here)}/" if root.is_relative_to(here) and root != here else str(root)

"""What the course hands out of a day, and what becomes of a file that stands there already.

A copy of each is kept as it was handed out. Where the course has a newer one since, a file that nobody
touched becomes that, and one that the learner changed stays as it is: `track upgrade` shows what the course
changed. The learner's work is never overwritten.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.workspace import Workspace, writing

Fate = Literal["copied", "upgraded", "yours", "kept"]


@dataclass(frozen=True)
class HandOut:
    """One file of a day.

    Attributes:
        ours: as the course has it now.
        before: the copy of what was handed out.
        mine: the learner's.
    """

    ours: Path
    before: Path
    mine: Path

    @property
    def news(self) -> bool:
        """Whether the course has changed it since."""
        return self.before.is_file() and self.before.read_bytes() != self.ours.read_bytes()

    def fate(self) -> Fate:
        """What becomes of the learner's file."""
        if not os.path.lexists(self.mine):
            return "copied"
        mine = self.mine.read_bytes()
        if not self.news or mine == self.ours.read_bytes():
            return "kept"
        return "upgraded" if mine == self.before.read_bytes() else "yours"

    def become(self, fate: Fate) -> None:
        """Writes the learner's file where it changes, and keeps a copy of what was handed out."""
        if fate in ("copied", "upgraded"):
            write(self.mine, self.ours.read_bytes())
        if fate == "copied" or (self.news and fate != "yours"):
            self.accept()

    def accept(self) -> None:
        """What was handed out is from now on what the course has."""
        self.before.parent.mkdir(parents=True, exist_ok=True)
        write(self.before, self.ours.read_bytes())


def files(workspace: Workspace, day: Day) -> dict[str, HandOut]:
    """Every file of a day, by its name."""
    folder, copies = workspace.folder(day), workspace.copies(day)
    return {name: HandOut(ours, copies / name, folder / name) for name, ours in day.handed_out.items()}


def start(workspace: Workspace, day: Day) -> dict[str, Fate]:
    """Gives the learner a day: what is missing, and what the course has newer.

    Raises:
        CannotWrite: nothing of the learner's was changed.
    """
    with writing(workspace.folder(day)):
        workspace.folder(day).mkdir(parents=True, exist_ok=True)
        handed = files(workspace, day)
        fates = {name: one.fate() for name, one in handed.items()}
        for name, fate in fates.items():
            handed[name].become(fate)
    return fates


def foretell(workspace: Workspace, day: Day) -> dict[str, Fate]:
    """What `start` would do with the files of a started day that the course has newer."""
    handed = files(workspace, day) if workspace.folder(day).is_dir() else {}
    with writing(workspace.folder(day)):
        fates = {name: one.fate() for name, one in handed.items() if one.news}
    return {name: fate for name, fate in fates.items() if fate != "kept"}


def outdated(workspace: Workspace) -> list[Day]:
    """The started days of which the course has something newer."""
    return [day for day in catalog.course() if foretell(workspace, day)]


def write(path: Path, content: bytes) -> None:
    """All of it or nothing: a disk that fills up leaves no half file behind."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise

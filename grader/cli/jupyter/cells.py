"""A cell as a day's kernel.py."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from grader.course.catalog import Day
from grader.course.learner.handout import write
from grader.course.learner.workspace import Workspace, writing
from grader.errors import TrackError

parts: dict[str, str] = {}  # the source of every cell that was named, as long as the notebook's Python lives


def assembled(words: list[str], cell: str) -> tuple[list[str], str]:
    """The words without `--with NAME`, and the source: the parts that those name, then the cell.

    A cell alone has an empty line first, where `%%grade` stands: so line 18 of the file is the cell's.

    Raises:
        TrackError: there is no such part.
    """
    rest, named = list(words), []
    while "--with" in rest:
        at = rest.index("--with")
        named += rest[at + 1 : at + 2] or [""]
        del rest[at : at + 2]
    for name in named:
        if name not in parts:
            raise TrackError(f'No cell is named "{name}".', "Run one that begins with `%%part NAME` first.")
    return rest, "\n".join([*(parts[name] for name in named), cell] if named else ["", cell])


def save(workspace: Workspace, day: Day, source: str) -> None:
    """Writes the day's kernel.py. What stands there moves to the trash, unless a cell or the course wrote it.

    Raises:
        CannotWrite: nothing was changed.
    """
    kernel, mark = workspace.kernel(day), workspace.copies(day) / "cell"
    with writing(kernel):
        known = [_digest(workspace.handed_out(day)), mark.read_text() if mark.is_file() else ""]
        if kernel.is_file() and _digest(kernel) not in known:
            shutil.copytree(workspace.folder(day), workspace.new_trash(day))
        write(kernel, source.encode())
        mark.write_text(_digest(kernel))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

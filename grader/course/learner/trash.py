"""A day's work put away and brought back. Nothing is ever deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.course.catalog import Day
from grader.course.learner.handout import start
from grader.course.learner.workspace import Workspace, writing
from grader.errors import BadSubmission


def reset(workspace: Workspace, day: Day) -> Path:
    """Moves everything in the day's folder to the trash, copies a fresh day, returns where the work lies now.

    The folder itself stays, so an editor, a shell or `track watch` standing in it stays too.

    Raises:
        BadSubmission: the day was not started.
        CannotWrite: what could not be moved still lies where it was.
    """
    if not workspace.folder(day).is_dir():
        raise BadSubmission(f"{day.name} is not started.", f"track start {day.key}")
    trash = _cleared(workspace, day)
    start(workspace, day)
    return trash


def restore(workspace: Workspace, day: Day) -> Path | None:
    """Brings back the work that `reset` moved away last; what stands there now takes its place in the trash.

    Returns:
        where that lies; None where nothing stood there.

    Raises:
        BadSubmission: the trash holds no work on this day.
        CannotWrite: what could not be moved still lies where it was.
    """
    kept = put_away(workspace, day)
    if not kept:
        then = "grade" if workspace.kernel(day).is_file() else "start"
        raise BadSubmission(f"{day.name}: the trash holds no work of yours.", f"track {then} {day.key}")
    last = max(kept)
    trash = _cleared(workspace, day) if workspace.folder(day).is_dir() else None
    with writing(workspace.folder(day)):
        workspace.folder(day).mkdir(parents=True, exist_ok=True)
        for entry in list(last.iterdir()):
            shutil.move(entry, workspace.folder(day) / entry.name)
    return trash


def put_away(workspace: Workspace, day: Day) -> list[Path]:
    """The folders of the trash that hold work on this day."""
    return [path for path in workspace.hidden.glob(f"trash/*/{day.stem}") if worked_on(workspace, day, path)]


def worked_on(workspace: Workspace, day: Day, folder: Path) -> bool:
    """Whether there is anything in it but what was handed out."""
    ours = {workspace.handed_out(day).read_bytes(), day.skeleton.read_bytes()}
    others = [path for path in folder.iterdir() if path.name not in day.handed_out]
    kernel = folder / "kernel.py"
    return bool(others) or (kernel.is_file() and kernel.read_bytes() not in ours)


def _cleared(workspace: Workspace, day: Day) -> Path:
    """Moves everything in the day's folder to the trash, and says where it lies now."""
    trash = workspace.new_trash(day)
    with writing(trash):
        trash.mkdir(parents=True)
        for entry in list(workspace.folder(day).iterdir()):
            shutil.move(entry, trash / entry.name)
    return trash

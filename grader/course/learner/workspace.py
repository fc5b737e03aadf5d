"""The learner's folder: found and created."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import journal
from grader.course.learner.journal import Record
from grader.errors import BadSubmission, NoWorkspace, TrackError, pasted

FOLDER = "my-track"
STAMP = "%Y-%m-%d_%H-%M-%S_%f"  # of a folder of the trash


class CannotWrite(TrackError):
    """The disk is full or read-only, or the folder belongs to someone else."""

    exit_code = 3


@dataclass(frozen=True)
class Workspace:
    """`root` holds a folder for every started day; its `.track/` the journal, trash and handed-out copies."""

    root: Path

    @property
    def hidden(self) -> Path:
        return self.root / ".track"

    @property
    def journal(self) -> Path:
        return self.hidden / "journal.jsonl"

    def folder(self, day: Day) -> Path:
        return self.root / day.stem

    def kernel(self, day: Day) -> Path:
        return self.folder(day) / "kernel.py"

    def handed_out(self, day: Day) -> Path:
        """The skeleton as it was when this learner got it, which a newer course does not change."""
        copy = self.copies(day) / "kernel.py"
        return copy if copy.is_file() else day.skeleton

    def copies(self, day: Day) -> Path:
        """The folder with every file of a day as it was handed out."""
        return self.hidden / "handed-out" / day.stem

    def new_trash(self, day: Day) -> Path:
        """Where work on a day may be put away: a new folder, which sorts behind all that are there."""
        return self.hidden / "trash" / datetime.now(timezone.utc).strftime(STAMP) / day.stem


def find() -> Workspace | None:
    """The workspace around the current folder, beside one of its parents, or at $TRACK_HOME.

    The launcher sets that to its clone's own.
    """
    here, home = _here(), _home()
    around = [root for folder in (here, *here.parents) for root in (folder, folder / FOLDER)]
    roots = [*around, home] if home else around
    return next((Workspace(root) for root in roots if os.path.isdir(root / ".track")), None)


def require() -> Workspace:
    """Like `find`, for commands that can do nothing without one.

    Raises:
        NoWorkspace: nothing was started from here.
    """
    found = find()
    if found:
        return found
    raise NoWorkspace("No day was started here or in a folder above.", "track start 1")


def create() -> Workspace:
    """The workspace that `find` finds, or a new one: $TRACK_HOME, the clone's my-track/, or ./my-track.

    Raises:
        CannotWrite: it cannot be made.
    """
    found = find()
    if found:
        return found
    here = _here()
    made = Workspace(_home() or (catalog.ROOT if here.is_relative_to(catalog.ROOT) else here) / FOLDER)
    with writing(made.root):
        made.hidden.mkdir(parents=True, exist_ok=True)
    return made


def submission(workspace: Workspace, day: Day) -> Path:
    """The learner's kernel.py of a day.

    Raises:
        BadSubmission: the day was not started, or its file is gone.
    """
    path = workspace.kernel(day)
    if not workspace.folder(day).is_dir():
        raise BadSubmission(f"{day.name} is not started.", f"track start {day.key}")
    if not path.is_file():
        raise BadSubmission(f"There is no {path}.", f"track start {day.key}")
    return path


def current(workspace: Workspace | None, records: Sequence[Record]) -> Day | None:
    """The day whose folder this is, else the day last worked on."""
    if workspace is None:
        return None
    here, key = _here(), journal.current(records)
    every = (*catalog.course(), catalog.WARM_UP)
    inside = [day for day in every if here.is_relative_to(workspace.folder(day))]
    return next(iter(inside), next((day for day in every if day.key == key), None))


@contextmanager
def writing(path: Path, elsewhere: str = "") -> Iterator[None]:
    """Turns what the system says about a failed write into one line a person can act on.

    Args:
        elsewhere: the command that writes to another place, where the command knows one.
    """
    try:
        yield
    except OSError as error:
        where = Path(os.fsdecode(error.filename2 or error.filename or path))
        problem, fix = _explain(error, elsewhere or cure(where))
        raise CannotWrite(f"{problem}: {where}", fix) from error


def cure(place: Path) -> str:
    """What helps where `place` may not be written. From within a workspace TRACK_HOME leads nowhere else."""
    around = next((one for one in (place, *place.absolute().parents) if os.path.isdir(one / ".track")), None)
    if around is None:
        return "Work in a folder of yours, or set TRACK_HOME to one."
    if around.stat().st_uid == os.getuid():
        return f"chmod -R u+w {pasted(around)}"
    return f"cp -r --no-preserve=mode {pasted(around)} . && cd {pasted(around.name)}"


def _explain(error: OSError, elsewhere: str) -> tuple[str, str]:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "The disk is full", "Free some space and repeat the command; nothing of yours was changed."
    if error.errno == errno.EROFS:
        return "The disk is read-only", elsewhere
    if error.errno in (errno.EACCES, errno.EPERM):
        return "No permission to write", elsewhere
    if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
        return (
            "Something else stands where a folder or file of the course belongs",
            "Move it away and repeat the command.",
        )
    return f"Cannot write ({error.strerror or error})", elsewhere


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise NoWorkspace("The folder you are in no longer exists.", "cd ~") from None


def _home() -> Path | None:
    home = os.environ.get("TRACK_HOME")
    return Path(home).expanduser().absolute() if home else None

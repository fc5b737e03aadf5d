"""`track watch`: grades on every save, from a parent process that stays warm, and listens to single keys."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import grade_command, keys
from grader.cli.command_context import note, open_hint, standing
from grader.cli.grade_command import Device, Submission
from grader.cli.screens import Terminal, day_pages, watching
from grader.cli.screens.terminal import Next
from grader.cli.shell_integration import EXIT_STOPPED
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import handout, workspace
from grader.course.learner.workspace import Workspace
from grader.errors import CannotGrade, TrackError

if TYPE_CHECKING:
    from grader.grading.warm_client import Warm

# Where a change made on another machine, or outside a container, raises no event here.
DEAF = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "drvfs",
    "vboxsf",
    "fuse.sshfs",
    "fuse.gcsfuse",
    "virtiofs",
    "afs",
}


GLANCE = 1.0  # seconds after which it looks at the file without being told


class Watch:
    """One `track watch` from start to quit.

    Args:
        device: where it grades; `auto` takes the GPU if there is one.
    """

    def __init__(self, found: Workspace, day: Day, device: Device, terminal: Terminal) -> None:
        self.terminal = terminal
        self.workspace = found
        self.submission = Submission(day, workspace.submission(found, day), found, device)
        self.warm: Warm | None = None
        # "saved" or a key; an end that comes as an exception leaves no lock of C half released.
        self.happened: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.graded = ""
        self.recorded = True  # every grading so far

    def loop(self, keyboard: bool) -> None:
        """Grades once, then whenever something happens, until q."""
        self.grade()
        what = "waiting"
        while what != "q":
            if what:
                watching.waiting(self.terminal, self.submission.path, keyboard)
            what = self._next_event()
            self.answer(what)

    def _next_event(self) -> str:
        """A key, "saved" if the file changed, or nothing. Events can get lost, so it looks for itself too."""
        try:
            what = self.happened.get(timeout=GLANCE)
        except queue.Empty:
            what = "saved"
        return "" if what == "saved" and self._content() == self.graded else what

    def answer(self, what: str) -> None:
        try:
            acts = {"saved": self.grade, "g": self.grade, "h": self.hint, "n": self.next}
            if what in acts:
                acts[what]()
            elif what.strip() not in ("", "q"):
                watching.unknown(self.terminal, what)
        except TrackError as problem:
            day_pages.error(self.terminal, problem)

    def grade(self) -> None:
        self.graded = self._content()
        try:
            watching.cleared(self.terminal)
            self.warm = self.warm or _warm(self.submission.device)
            graded = grade_command.grade(self.submission, self.terminal, self.warm)
            self.recorded = self.recorded and graded.recorded
            self.warm.stand_by()
        except TrackError as problem:
            day_pages.error(self.terminal, problem)
            if isinstance(problem, CannotGrade):
                self.stop()

    def hint(self) -> None:
        day = self.submission.day
        opened, here = open_hint(self.workspace, day), standing()
        day_pages.hint(self.terminal, day, opened, here.passed(day), here.untold(day))

    def next(self) -> None:
        """Goes on to the next day once this one has passed."""
        day = self.submission.day
        if not standing().of(day).done:
            raise TrackError(f"{day.name} has not passed yet.", "save a change, or press h for a hint")
        later = catalog.later(day)
        if not later:
            raise TrackError("That was the last day.", "track status")
        fates = handout.start(self.workspace, later[0])
        note(self.workspace, "started", later[0])
        day_pages.started(
            self.terminal, self.workspace, later[0], fates, resumed=fates["kernel.py"] == "kept"
        )
        path = workspace.submission(self.workspace, later[0])
        self.submission = replace(self.submission, day=later[0], path=path)
        self.graded = self._content()

    def saved(self, path: Path) -> None:
        if path.name == self.submission.path.name and path.parent.name == self.submission.path.parent.name:
            self.happened.put("saved")

    def stop(self) -> None:
        if self.warm:
            self.warm.__exit__(None, None, None)
        self.warm = None

    def _content(self) -> str:
        try:
            return sha256(self.submission.path.read_bytes()).hexdigest()
        except OSError:
            return ""


def run(found: Workspace, day: Day, device: Device) -> int:
    """Watches until q or Ctrl-C; the terminal and every process are put in order whatever happens."""
    watch = Watch(found, day, device, Terminal(sys.stdout))
    try:
        with _saves(watch), keys.pressed(watch.happened.put) as keyboard:
            watch.loop(keyboard)
        return 0
    except KeyboardInterrupt:
        return EXIT_STOPPED
    finally:
        watch.stop()
        day = watch.submission.day
        watching.left(watch.terminal, watch.recorded, _next(day))


def _next(day: Day) -> Next:
    """What follows once nobody watches: the next day after a pass."""
    with contextlib.suppress(TrackError):  # a journal that cannot be read has told so
        return standing().passed(day) or (f"track grade {day.key}", "")
    return f"track grade {day.key}", ""


@contextlib.contextmanager
def _saves(watch: Watch) -> Iterator[None]:
    """Tells `watch` of every changed file in the workspace from a thread."""
    stop = threading.Event()
    thread = threading.Thread(target=_report, args=(watch, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=1)


def _report(watch: Watch, stop: threading.Event) -> None:
    import watchfiles

    root = watch.workspace.root
    polling = (
        True if deaf(root, _mounts()) else None
    )  # None lets watchfiles and its environment variables decide
    with contextlib.suppress(FileNotFoundError):
        for changes in watchfiles.watch(
            root,
            watch_filter=None,
            stop_event=stop,
            rust_timeout=500,
            force_polling=polling,
            raise_interrupt=False,
        ):
            for path in {Path(name) for _, name in changes}:
                watch.saved(path)


def deaf(folder: Path, mounts: str) -> bool:
    """Whether `folder` lies on a file system that does not tell of changes, by the lines of /proc/mounts."""
    best, kind = "", ""
    for line in mounts.splitlines():
        point, name = (field.replace("\\040", " ") for field in [*line.split(" "), "", ""][1:3])
        if point and len(point) >= len(best) and folder.resolve().is_relative_to(point):
            best, kind = point, name
    return kind in DEAF


def _mounts() -> str:
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _warm(device: Device) -> Warm:
    """A parent for this device; its first grading says so if it could not start."""
    from grader.grading import grade
    from grader.grading.warm_client import Warm

    return Warm(grade.choose_device(device))

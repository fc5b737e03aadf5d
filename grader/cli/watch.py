"""`track watch`: grades on every save, from a parent process that stays warm, and listens to single keys."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.cli import keys
from grader.cli.command_context import note, open_hint, standing
from grader.cli.grade import EXPLAIN, graded
from grader.cli.screens import Terminal, day_pages
from grader.cli.screens.terminal import Next, near
from grader.cli.shell_integration import EXIT_STOPPED
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import handout, workspace
from grader.course.learner.workspace import Workspace
from grader.errors import CannotGrade, TrackError

if TYPE_CHECKING:
    from grader.grading.warm_client import Warm

GLANCE = 0.25  # seconds between two looks at the file


class Watch:
    """One `track watch` from start to quit.

    Args:
        device: `cpu`, `gpu`, or `auto`, which takes the GPU if there is one.
    """

    def __init__(self, found: Workspace, day: Day, device: str, terminal: Terminal) -> None:
        self.terminal = terminal
        self.workspace, self.day, self.device = found, day, device
        self.path = workspace.submission(found, day)
        self.warm: Warm | None = None
        self.graded = ""
        self.recorded = True  # every grading so far

    def loop(self, keyboard: bool) -> None:
        """Grades once, then on every save and as the keys say, until q."""
        self.grade()
        self._waiting(keyboard)
        for what in self._events(keyboard):
            if what == "q":
                return
            self.answer(what)
            self._waiting(keyboard)

    def _events(self, keyboard: bool) -> Iterator[str]:
        """Keys, and "saved" where the file has changed. An editor may take it away for a moment."""
        while True:
            if keyboard:
                yield from "".join(keys.pressed(GLANCE).split())
            else:
                time.sleep(GLANCE)
            if self._content() not in ("", self.graded):
                yield "saved"

    def _waiting(self, keyboard: bool) -> None:
        self.terminal.line()
        self.terminal.line(f"Watching {near(self.path)}: save it to grade again.")
        said = "Keys: g grade, h hint, n next day, q quit." if keyboard else "Ctrl-C ends it."
        self.terminal.line(said)

    def answer(self, what: str) -> None:
        acts = {"saved": self.grade, "g": self.grade, "h": self.hint, "n": self.next}
        if what not in acts:
            return self.terminal.line(f"{what} is none of the keys.")
        try:
            acts[what]()
        except TrackError as problem:
            day_pages.error(self.terminal, problem)

    def grade(self) -> None:
        self.graded = self._content()
        if self.terminal.live:
            self.terminal.console.clear()
        else:
            self.terminal.line("-" * 60)
        try:
            self.warm = self.warm or self._started()
            asked = {"device": self.device, "explain": EXPLAIN, "warm": self.warm}
            _, recorded = graded(self.terminal, self.day, self.path, self.workspace, **asked)
            self.recorded = self.recorded and recorded
            self.warm.stand_by()
        except TrackError as problem:
            day_pages.error(self.terminal, problem)
            if isinstance(problem, CannotGrade):
                self.stop()

    def _started(self) -> Warm:
        """A parent for this device; its first grading says so if it could not start."""
        from grader.grading import grade
        from grader.grading.warm_client import Warm

        return Warm(grade.choose_device(self.device))

    def hint(self) -> None:
        opened, here = open_hint(self.workspace, self.day), standing()
        day_pages.hint(self.terminal, self.day, opened, here.passed(self.day), here.untold(self.day))

    def next(self) -> None:
        """Goes on to the next day once this one has passed."""
        if not standing().of(self.day).done:
            raise TrackError(f"{self.day.name} has not passed yet.", "save a change, or press h for a hint")
        later = catalog.later(self.day)
        if not later:
            raise TrackError("That was the last day.", "track status")
        fates = handout.start(self.workspace, later[0])
        self.day = later[0]
        note(self.workspace, "started", self.day)
        resumed = fates["kernel.py"] == "kept"
        day_pages.started(self.terminal, self.workspace, self.day, fates, resumed)
        self.path = workspace.submission(self.workspace, self.day)
        self.graded = self._content()

    def stop(self) -> None:
        if self.warm:
            self.warm.__exit__(None, None, None)
        self.warm = None

    def left(self) -> None:
        """Says that it is over, and whether every finished grading was recorded."""
        self.terminal.line()
        kept = "every finished grading is" if self.recorded else "not every grading could be"
        self.terminal.line(f"Stopped watching; {kept} recorded.")
        self.terminal.next(*self._following())

    def _following(self) -> Next:
        again = f"track grade {self.day.key}", ""
        with contextlib.suppress(TrackError):  # a journal that cannot be read has told so
            return standing().passed(self.day) or again
        return again

    def _content(self) -> str:
        try:
            return sha256(self.path.read_bytes()).hexdigest()
        except OSError:
            return ""


def run(found: Workspace, day: Day, device: str) -> int:
    """Watches until q or Ctrl-C; the terminal and every process are put in order whatever happens."""
    watch = Watch(found, day, device, Terminal(sys.stdout))
    try:
        with keys.single() as keyboard:
            watch.loop(keyboard)
        return 0
    except KeyboardInterrupt:
        return EXIT_STOPPED
    finally:
        watch.stop()
        watch.left()

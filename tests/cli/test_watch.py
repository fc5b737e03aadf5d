"""`track watch` on a real terminal and without one: saves, keys, and a terminal given back as it was."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.cli import watch
from grader.course import catalog
from grader.course.learner import journal, workspace
from tests.learner import DAY_1, SOLUTION_1, Learner, passed

READY = "save it to grade again."


class Session:
    """A running `track watch`, what it has shown so far, and its keyboard."""

    def __init__(self, learner: Learner, *, terminal: bool = True, **environment: str) -> None:
        self.shown = ""
        self.ours, theirs = pty.openpty()
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        surroundings = learner.surroundings() | {"TERM": "xterm", "NO_COLOR": "1", **environment}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLED if terminal else PLAIN, "watch", "1", "--cpu"],
            cwd=learner.folder,
            env=surroundings,
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )

    def sees(self, words: str, within: float = 60) -> None:
        """Waits until `words` are shown, after whatever was seen before."""
        end = time.monotonic() + within
        while words not in self.shown:
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {words!r} in {self.shown!r}"
            self.shown += os.read(self.ours, 65536).decode(errors="replace")
        self.shown = self.shown.partition(words)[2]

    def presses(self, key: str) -> None:
        os.write(self.ours, key.encode())

    def ends(self) -> int:
        """The exit code; the terminal has to be as it was before."""
        with contextlib.suppress(OSError):
            while select.select([self.ours], [], [], 0.2)[0] or self.process.poll() is None:
                if select.select([self.ours], [], [], 0.2)[0]:
                    self.shown += os.read(self.ours, 65536).decode(errors="replace")
        code = self.process.wait(timeout=10)
        assert termios.tcgetattr(self.theirs) == self.before
        return code


# Whoever runs the tests in the background of a shell has handed down that Ctrl-C is ignored.
PLAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from grader.cli.commands import main; main()"
)
CONTROLLED = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);" + PLAIN


@contextlib.contextmanager
def watching(learner: Learner, *, terminal: bool = True, **environment: str) -> Iterator[Session]:
    session = Session(learner, terminal=terminal, **environment)
    try:
        yield session
    finally:
        if session.process.poll() is None:
            session.process.terminate()
            session.process.wait(timeout=20)
        os.close(session.ours)
        os.close(session.theirs)


def test_it_grades_at_once_and_after_every_save_and_quits_by_q(started: Learner) -> None:
    with watching(started) as session:
        session.sees("Nothing to grade yet.")
        session.sees(READY)
        started.kernel(DAY_1).write_text(SOLUTION_1)
        session.sees("The day is done on CPU.")
        session.sees(READY)
        editor_save(started.kernel(DAY_1), SOLUTION_1.replace("2 * x + 1", "2 * x"))
        session.sees("Not yet: correct fails")
        session.sees(READY)
        session.presses("q")
        assert session.ends() == 0
    assert [r["status"] for r in started.records() if r["event"] == "graded"] == [
        "unstarted",
        "passed",
        "failed",
    ]


def test_after_a_pass_it_ends_with_the_next_day(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1)
    with watching(started) as session:
        session.sees("The day is done on CPU.")
        session.sees(READY)
        session.presses("q")
        session.sees("every finished grading is recorded.")
        session.sees("track start 2")
        assert session.ends() == 0


def test_it_says_where_not_every_grading_could_be_recorded(
    started: Learner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(started.home)
    monkeypatch.setenv("TRACK_COMMAND", "track")
    monkeypatch.setattr(journal, "append", _refused)
    monkeypatch.setattr(watch.keys, "single", lambda: contextlib.nullcontext(True))
    monkeypatch.setattr(watch.keys, "pressed", lambda seconds: "q")
    found = workspace.require()
    assert watch.run(found, catalog.find("1"), "cpu") == 0
    shown = capsys.readouterr().out
    assert "Stopped watching; not every grading could be recorded." in shown
    assert shown.endswith("Next: track grade 1\n")


def _refused(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied", "journal.jsonl")


def editor_save(path: Path, text: str) -> None:
    """As vim does it: the old file is moved away, a new one takes its name."""
    path.rename(path.with_suffix(".py~"))
    path.write_text(text)
    path.with_suffix(".py~").unlink()


def test_its_keys_grade_hint_and_go_on(started: Learner) -> None:
    with watching(started) as session:
        session.sees(READY)
        session.presses("h")
        session.sees("hint 1 of 3")
        session.presses("n")
        session.sees("Day 1 has not passed yet.")
        session.presses("\x1b[A")
        session.presses("x")
        session.sees("x is none of the keys.")
        session.presses("g")
        session.sees("Nothing to grade yet.")
        session.sees(READY)
        passed(started)
        session.presses("n")
        session.sees("Keys:")
        session.presses("q")
        assert session.ends() == 0
    days = {record["day"] for record in started.records() if record["event"] == "started"}
    assert len(days) == 2


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_however_it_ends_the_terminal_is_given_back(started: Learner, number: int, code: int) -> None:
    with watching(started) as session:
        session.sees("Keys:")
        session.process.send_signal(number)
        assert session.ends() == code


def test_a_stop_in_the_middle_of_a_grading_ends_it_and_records_nothing(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1 + "\nimport time\ntime.sleep(600)\n")
    before = started.journal.read_bytes()
    with watching(started) as session:
        session.sees("imports")
        session.presses("\x03")
        assert session.ends() == 130
    assert started.journal.read_bytes() == before


def test_without_a_keyboard_it_watches_until_it_is_stopped(started: Learner) -> None:
    with watching(started, terminal=False) as session:
        session.sees("Ctrl-C ends it.")
        started.kernel(DAY_1).write_text("def broken(:\n")
        session.sees("Syntax error on line 1")
        session.process.send_signal(signal.SIGINT)
        assert session.ends() == 130


def test_a_reset_in_another_terminal_is_seen_and_watching_goes_on(started: Learner) -> None:
    started.kernel(DAY_1).write_text("def broken(:\n")
    with watching(started) as session:
        session.sees("Syntax error on line 1")
        session.sees(READY)
        assert started.types("reset", "1").code == 0
        session.sees("Nothing to grade yet.")
        session.sees(READY)
        started.kernel(DAY_1).write_text("def broken(:\n")
        session.sees("Syntax error on line 1")

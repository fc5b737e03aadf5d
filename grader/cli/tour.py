"""`track tour`: the warm-up from skeleton to pass, by the real commands in a scratch workspace."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from grader.cli.screens import Terminal
from grader.cli.screens.terminal import typed
from grader.course import catalog
from grader.errors import CannotGrade
from grader.verdict import EXIT_NOT_YET, EXIT_PASSED

# The line that the learner would write, as an edit of the warm-up's solution: one element too far.
SLIP = ("source = BLOCK - 1 - offs", "source = BLOCK - offs")
UNSTARTED, BROKEN, SOLVED = (
    "A kernel that turns a vector round; where it reads is a TODO. What does the grader say to that?",
    "A first try at the TODO:",
    "One element too far. Mended:",
)
PAUSE = 1.2  # seconds for reading, where somebody reads


def run(track: click.Group) -> int:
    """Plays the tour and returns the exit code.

    Args:
        track: the commands of `track`, which the tour types.

    Raises:
        CannotGrade: a grading went otherwise than the story has it.
    """
    terminal = Terminal(sys.stdout)
    day = catalog.WARM_UP
    solution = day.solution.read_text(encoding="utf-8")
    broken = solution.replace(*SLIP)
    start = ("One round of Triton Track", "bold")
    terminal.line(start, ", for real, in a scratch folder: nothing of yours is touched.")
    terminal.line("Every day hands out a lesson and a kernel with TODOs. This warm-up is none of the days.")
    with _scratch() as folder:
        kernel = folder / "my-track" / day.stem / "kernel.py"
        _type(track, terminal, f"start {day.key}", EXIT_PASSED)
        _note(terminal, UNSTARTED)
        _type(track, terminal, "grade", EXIT_NOT_YET)
        for words, source, line, code in (
            (BROKEN, broken, SLIP[1], EXIT_NOT_YET),
            (SOLVED, solution, SLIP[0], EXIT_PASSED),
        ):
            kernel.write_text(source, encoding="utf-8")
            _note(terminal, words, line)
            _type(track, terminal, "grade", code)
    _note(
        terminal,
        "That is the whole loop: start, grade, read why, mend, pass. The scratch folder is gone.",
    )
    terminal.next("track start 1", "your own day 1")
    return EXIT_PASSED


def _note(terminal: Terminal, words: str, code: str = "") -> None:
    """A line of the story, and what was written into kernel.py."""
    terminal.line()
    terminal.line(("▌ ", "cyan"), (words, "bold"))
    if code:
        terminal.line()
        terminal.block(code)


def _type(track: click.Group, terminal: Terminal, words: str, expected: int) -> None:
    if terminal.live:
        time.sleep(PAUSE)
    terminal.line()
    terminal.line(("$ ", "dim"), (typed(f"track {words}"), "bold cyan"))
    terminal.stream.flush()
    code = track.main(words.split(), prog_name="track", standalone_mode=False) or EXIT_PASSED
    if code != expected:
        raise CannotGrade(f'"track {words}" ended with {code}; the tour expects {expected}.', "track doctor")


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Stands in a new folder with a workspace, whatever $TRACK_HOME says, and leaves nothing behind."""
    before = os.open(".", os.O_RDONLY)
    with tempfile.TemporaryDirectory(prefix="track-tour-") as name:
        folder = Path(name).resolve()
        (folder / "my-track" / ".track").mkdir(parents=True)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)
            os.close(before)

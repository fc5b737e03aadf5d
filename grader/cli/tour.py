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

from grader.cli.screens import Terminal, tour_text
from grader.course import catalog
from grader.errors import CannotGrade
from grader.verdict import EXIT_NOT_YET, EXIT_PASSED

# The line that the learner would write, as an edit of the warm-up's solution: one element too far.
SLIP = ("source = BLOCK - 1 - offs", "source = BLOCK - offs")
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
    tour_text.opening(terminal)
    with _scratch() as folder:
        kernel = folder / "my-track" / day.stem / "kernel.py"
        _type(track, terminal, f"start {day.key}", EXIT_PASSED)
        tour_text.note(terminal, tour_text.NOT_YET)
        _type(track, terminal, "grade", EXIT_NOT_YET)
        for words, source, line, code in (
            (tour_text.BROKEN, broken, SLIP[1], EXIT_NOT_YET),
            (tour_text.SOLVED, solution, SLIP[0], EXIT_PASSED),
        ):
            kernel.write_text(source, encoding="utf-8")
            tour_text.note(terminal, words, line)
            _type(track, terminal, "grade", code)
    tour_text.closing(terminal)
    return EXIT_PASSED


def _type(track: click.Group, terminal: Terminal, words: str, expected: int) -> None:
    if terminal.live:
        time.sleep(PAUSE)
    tour_text.command(terminal, f"track {words}")
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

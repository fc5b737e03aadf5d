"""One `track` command run for a notebook, in a process of its own: nothing of the notebook's is changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from grader.cli.screens.day_as_notebook import as_magics

PATIENCE = 10.0  # seconds in which an interrupted command puts its own processes in order


class Interrupted(KeyboardInterrupt):
    """Of the notebook; the command was ended, and had its last word. Jupyter shows one line of it."""

    def _render_traceback_(self) -> list[str]:
        return ["Interrupted."]


def ask(words: Sequence[str]) -> tuple[int, str]:
    """A command's exit code, and what it prints into a pipe, errors left out."""
    with _started(words, subprocess.DEVNULL) as process:
        try:
            out, _ = process.communicate()
        except KeyboardInterrupt:
            _interrupt(process)
            raise Interrupted from None
    return process.returncode, out


def follow(words: Sequence[str]) -> None:
    """Runs a command, and prints each line as it comes: in a terminal's colours, which a notebook shows.

    Raises:
        Interrupted: by the notebook.
    """
    with _started(words, subprocess.STDOUT, FORCE_COLOR="1", COLORTERM="") as process:
        try:
            _print(process)
        except KeyboardInterrupt:
            _interrupt(process)
            _print(process)
            raise Interrupted from None


def _print(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    for line in process.stdout:
        # What follows a day is its notebook.
        print(as_magics(line.replace("%track start", "%track notebook")), end="", flush=True)


def _started(words: Sequence[str], errors: int, **more: str) -> subprocess.Popen[str]:
    """In a session of its own: an interrupt reaches the notebook, and the notebook hands it on once."""
    ours = {"TRACK_COMMAND": "%track", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        [sys.executable, "-m", "grader", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, **ours, **more},
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )


def _interrupt(process: subprocess.Popen[str]) -> None:
    """Ends the command as Ctrl-C in a terminal does."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)

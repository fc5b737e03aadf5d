"""Running the commands of the first run: all they print goes to a log, one line each to the screen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Settings by which pip would install elsewhere than into the venv, or Python find modules outside it.
ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")

Command = list[str | Path]


class SetupFailed(Exception):
    """A step failed; the message is for the person, the log has pip's own words."""


@dataclass(frozen=True)
class Steps:
    """Runs the steps of one set-up.

    Attributes:
        log: takes the commands and what they print.
        lock: a descriptor that the children inherit, so that killing this process alone lets no other run in
            while pip still writes.
    """

    log: IO[str]
    lock: int

    def tries(self, title: str, command: Command) -> bool:
        """Whether the command succeeds; its output goes to the log alone."""
        begun = time.monotonic()
        words = [str(part) for part in command]
        print(f"\n$ {' '.join(words)}", file=self.log, flush=True)
        child = subprocess.Popen(
            words,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            pass_fds=(self.lock,),
        )
        good = _watched(child, title, begun) == 0
        if good:
            say(f"  ok  {title}  {time.monotonic() - begun:.0f} s")
        return good

    def run(self, title: str, command: Command) -> None:
        """Like `tries`, for a step that must succeed.

        Raises:
            SetupFailed: it did not; the message has the last line of the log that speaks of an error.
        """
        if self.tries(title, command):
            return
        log = Path(self.log.name).read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in log.rpartition("\n$ ")[2].splitlines()[1:] if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        raise SetupFailed(f"{title} failed: {(errors or lines or ['no output'])[-1]}")


def say(text: str) -> None:
    """To stderr, because stdout belongs to the command that follows, `--json` perhaps."""
    print(text, file=sys.stderr, flush=True)


def _watched(child: subprocess.Popen[bytes], title: str, begun: float) -> int:
    live = sys.stderr.isatty()
    while True:
        try:
            return child.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            if live:
                waited = time.monotonic() - begun
                print(f"\r  ..  {title}  {waited:.0f} s", end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            child.wait()  # it got the same Ctrl-C; what it holds must be put down before the lock is
            raise
        finally:
            if live and child.returncode is not None:
                print("\r\x1b[K", end="", file=sys.stderr)


def _environment() -> dict[str, str]:
    """The person's own pip settings, less those that lead out of the venv."""
    return {**{name: value for name, value in os.environ.items() if name not in ELSEWHERE}, "PIP_USER": "0"}

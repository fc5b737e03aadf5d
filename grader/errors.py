"""What the library raises; the command line turns each into one line and a fix."""

from __future__ import annotations

import shlex
from pathlib import Path


class TrackError(Exception):
    """A problem a person can fix. `problem` is one line, `fix` says what to type or change."""

    exit_code = 2

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


class UnknownDay(TrackError):
    """No day answers to what was typed."""


class NoWorkspace(TrackError):
    """The command needs a workspace and none was found."""


class BadSubmission(TrackError):
    """The file to grade is missing, unreadable or not a text file."""


class CannotGrade(TrackError):
    """The environment (or we) cannot give a verdict: no torch, no GPU where one was asked for, a judge that
    died.
    """

    exit_code = 3


def pasted(path: Path | str | int) -> str:
    """A path, or another word of a person's, as it stands in a command that is pasted into a shell."""
    return shlex.quote(str(path))

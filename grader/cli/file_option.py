"""The file that `--file` names, or one line that says what stands there instead."""

from __future__ import annotations

from pathlib import Path

from grader.cli.screens.terminal import near
from grader.errors import BadSubmission, pasted


def given(file: Path | None, again: str) -> Path:
    """The file that was named.

    Args:
        again: the command that was typed, as far as the path.

    Raises:
        BadSubmission: there is none, or it is a folder.
    """
    if file is None:
        raise BadSubmission("Which file is meant?", f"{again} FILE")
    if file.is_dir():
        within = file / "kernel.py"
        meant = pasted(within) if within.is_file() else "FILE"
        raise BadSubmission(f"{file} is a folder.", f"{again} {meant}")
    if not file.is_file():
        raise BadSubmission(f"There is no file {file}.", f"{again} FILE")
    return file


def again_with(file: Path | None) -> str:
    """What a command needs so that it takes the same file again."""
    return f" --file {pasted(near(file))}" if file else ""

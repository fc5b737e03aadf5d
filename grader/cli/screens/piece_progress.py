"""How far a file is that is not right yet: its pieces in one line, and of a skeleton what there is to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.cli.screens import terminal as screen
from grader.cli.screens.terminal import Terminal
from grader.verdict import Part

TODO = re.compile(r"#\s*(TODO\b.*)")
MARKED = {"right": "passed", "wrong": "failed"}
MARKS: Mapping[str, screen.Part] = {"right": "✓", "wrong": "✗"}


def so_far(terminal: Terminal, pieces: Sequence[Part]) -> None:
    """One line of what was tried; nothing where nothing is known of any piece."""
    if any(piece.state != "not judged" for piece in pieces):
        terminal.line()
        lead = ("So far, each piece tried in a few cases with our code around it: ", "bold")
        marks = {state: terminal.mark(outcome) for state, outcome in MARKED.items()}
        terminal.line(lead, *_line(pieces, marks, terminal.dot), indent=2)


def spoken(pieces: Sequence[Part]) -> str:
    """`reads of x ✓ · stores of y ✗ · not started: launcher`: what was tried comes first."""
    return "".join(word if isinstance(word, str) else word[0] for word in _line(pieces, MARKS))


def _line(pieces: Sequence[Part], marks: Mapping[str, screen.Part], dot: str = " · ") -> list[screen.Part]:
    words: list[screen.Part] = []
    for entry in [*_tried(pieces, marks), *_untried(pieces)]:
        words += [dot if words else "", *entry]
    return words


def _tried(pieces: Sequence[Part], marks: Mapping[str, screen.Part]) -> Iterator[list[screen.Part]]:
    for piece in pieces:
        if piece.state in marks:
            raises = f" (line {piece.line} raises)" if piece.line else ""
            under = f" (no line under {piece.bare})" if piece.bare else ""
            yield [f"{piece.name} ", marks[piece.state], raises + under]


def _untried(pieces: Sequence[Part]) -> Iterator[list[screen.Part]]:
    for state in ("not started", "not judged"):
        names = [piece.name for piece in pieces if piece.state == state]
        if names:
            yield [f"{state}: {', '.join(names)}"]


def to_do(terminal: Terminal, path: Path) -> None:
    """The file's TODOs, line by line."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:
        return
    found = [(number, todo[1]) for number, line in enumerate(lines, 1) if (todo := TODO.search(line))]
    if found:
        terminal.line()
        terminal.table([((f"line {number}", "dim"), text) for number, text in found])

"""Where a kernel is: the running line of the learner's file, the program, the grid."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Place = tuple[int, int, int]


class Location(NamedTuple):
    """Where a kernel is, which runs in no Python frame.

    Attributes:
        line: of the learner's file.
        callers: the lines that led to it, innermost first: calls, then the launch.
        program, grid: along three axes.
    """

    line: int
    callers: list[int]
    program: Place
    grid: Place


_told: Location | None = None
_last: list[Place] = []  # of one: a list, for a name of ours is to stay what it stands for


@contextmanager
def evaluated(line: int, callers: list[int], program: Place, grid: Place) -> Iterator[None]:
    """While the block runs, this is where a kernel is."""
    global _told
    before, _told = _told, Location(line, callers, program, grid)
    try:
        yield
    finally:
        _told = before


def launched(grid: Place) -> None:
    """A launch of this grid begins."""
    _last[:] = [grid]


def line(path: str) -> int:
    """The line of this file that is running; 0 where none is."""
    if _told:
        return _told.line
    return next(iter(_running(path)), 0)


def callers(path: str) -> list[int]:
    """The lines of this file that led to the one that is running, innermost first: calls, then the launch."""
    return _told.callers if _told else [*_running(path)][1:]


def _running(path: str) -> Iterator[int]:
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            yield int(frame.f_lineno)
        frame = frame.f_back


def grid() -> tuple[int, ...]:
    """The grid of the launch that runs, or ran last; empty where none has."""
    return _told.grid if _told else tuple(*_last)


def program() -> Place:
    """The running program."""
    return _told.program if _told else (0, 0, 0)


def place(number: int, grid: tuple[int, ...]) -> Place:
    """Where a program is in its grid; the first axis runs fastest."""
    x, y, _ = grid
    return number % x, number // x % y, number // (x * y)


def number() -> int:
    """The running program's in its grid; the first axis runs fastest."""
    (x, y, z), (nx, ny, *_) = program(), grid()
    return x + nx * (y + ny * z)

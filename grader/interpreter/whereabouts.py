"""Where the interpreter is: in which line of the learner's file, in which program of the grid."""

from __future__ import annotations

import sys
from typing import Any

from triton.runtime import interpreter

_builder: Any = interpreter.interpreter_builder


def line(path: str) -> int:
    """The line of this file that is running; 0 where none is."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return int(frame.f_lineno)
        frame = frame.f_back
    return 0


def callers(path: str) -> list[int]:
    """The lines of this file that led to the one that is running, innermost first: calls, then the launch."""
    frame: Any = sys._getframe(1)
    lines = list[int]()
    while frame is not None:
        lines += [int(frame.f_lineno)] * (frame.f_code.co_filename == path)
        frame = frame.f_back
    return lines[1:]


def place(path: str) -> str:
    """What of this file is running: the instruction, and those that called it, innermost first."""
    frame: Any = sys._getframe(1)
    found = list[str]()
    while frame is not None:
        if frame.f_code.co_filename == path:
            found.append(f"{frame.f_code.co_name}:{frame.f_lasti}")
        frame = frame.f_back
    return " ".join(found)


def grid() -> tuple[int, ...]:
    """The grid of the launch that runs, or ran last; empty where none has."""
    return tuple(int(n) for n in getattr(_builder, "grid_dim", ()))


def program() -> tuple[int, int, int]:
    """The running program."""
    x, y, z = _builder.grid_idx
    return int(x), int(y), int(z)


def number() -> int:
    """Its place in the grid; the first axis runs fastest."""
    (x, y, z), (nx, ny, _) = program(), grid()
    return x + nx * (y + ny * z)

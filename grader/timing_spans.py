"""Where the seconds of a grading go: spans of its processes, written to a file for `track dev bench DAY`.

Nothing is written where TRACK_SPANS names no file.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VARIABLE = "TRACK_SPANS"


@contextmanager
def span(name: str, of: str = "") -> Iterator[None]:
    """Write down how long the block takes; the clock is the same for all processes of a machine."""
    begin = time.monotonic()
    try:
        yield
    finally:
        note(name, of, begin)


def note(name: str, of: str, begin: float | None = None) -> None:
    """Write down that something happened; since `begin`, where it took time."""
    if VARIABLE not in os.environ:
        return
    end = time.monotonic()
    begin = end if begin is None else begin
    record = {"name": name, "of": of, "pid": os.getpid(), "begin": begin, "end": end}
    with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def read() -> list[dict[str, Any]]:
    """All spans so far."""
    path = Path(os.environ[VARIABLE])
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def watch_compiler() -> None:
    """From here on compilations are spans, those that find their result in Triton's cache too."""
    if VARIABLE not in os.environ:
        return
    from triton.compiler import compiler

    stock = compiler.compile

    def compile(src: Any, *args: Any, **kwargs: Any) -> Any:
        with span("compile", src.name):
            return stock(src, *args, **kwargs)

    import triton.compiler

    compiler.compile = triton.compiler.compile = compile

"""What a learner gets back: the screen of each grading, as a file."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import tempfile
from pathlib import Path

from grader.cli.screens import Terminal, result
from grader.cli.screens.grading import Grading
from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.cohort.store import results, verdict_of
from grader.verdict import Verdict

ONWARD = ("track status", "")


def seen_by_the_learner(terminal: Terminal, day: Day, verdict: Verdict, source: bytes) -> None:
    """Prints a verdict as `track grade` showed it to whoever handed in `source`."""
    Grading(terminal, day).finish(verdict)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.py")
        path.write_bytes(source)
        result.show(terminal, verdict, path, passed=ONWARD)


def write(db: sqlite3.Connection, folder: Path) -> int:
    """A folder for each learner with `day13.txt` and the like; returns how many files were written."""
    written = 0
    for one in results(db):
        verdict, source = verdict_of(db, one.id, one.day)
        if verdict is None:
            continue
        day = catalog.find(one.day)
        place = folder / folder_of(one.id) / f"{'' if day.number is None else 'day'}{day.label}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("w", encoding="utf-8") as file:
            seen_by_the_learner(Terminal(file), day, verdict, source)
        written += 1
    return written


def folder_of(id: str) -> str:
    """A folder's name for an id: no other id has it, and no file system minds it."""
    plain = re.sub(r"[^a-z0-9_.-]", "_", id)
    return plain if plain == id else f"{plain}-{hashlib.sha256(id.encode()).hexdigest()[:8]}"

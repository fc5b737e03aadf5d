"""What a learner gets back: the screen of each grading, as a file under the name that the hand-in had.

Moodle takes a zip of such folders back (mod/assign/feedback/file/importziplib.php in moodle/moodle): it reads
the participant's number off `Ann Smith_12345_assignsubmission_file_`, and skips what is in no such folder.
Canvas reads the user's and the attachment's number off a file's name, `smithann_12345_678910_…`, wherever it
lies (generate_comments_from_files in app/models/abstract_assignment.rb of instructure/canvas-lms).
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from grader.cli.screens import Terminal, result
from grader.cli.screens.grading import Grading
from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.cohort.store import results, verdict_of
from grader.verdict import Verdict

ONWARD = ("track status", "")
MOODLE = re.compile(r"[^/]+_\d+_assignsubmission_file_?")  # a folder
CANVAS = re.compile(r"(LATE_)?anon_[^\W_]+_\d+_|[^/]+?_\d+_\d+_")  # with which a file's name begins

Written = dict[tuple[str, str], Path]  # by learner and day


def seen_by_the_learner(terminal: Terminal, day: Day, verdict: Verdict, source: bytes) -> None:
    """Prints a verdict as `track grade` showed it to whoever handed in `source`."""
    verdict = replace(verdict, confined=(), not_confined=())  # the class was confined, their machine need not
    Grading(terminal, day).finish(verdict)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.py")
        path.write_bytes(source)
        result.show(terminal, verdict, path, passed=ONWARD)


def write(db: sqlite3.Connection, folder: Path) -> Written:
    """A folder for each learner with `day13.txt` and the like, and beside it a zip of all of them."""
    written: Written = {}
    owners: dict[str, str] = {}  # of folders, as file systems compare them that know no case
    for one in results(db):
        verdict, source = verdict_of(db, one.id, one.day)
        if verdict is None:
            continue
        day = catalog.find(one.day)
        path = path_of(one.id, day, one.place)
        if owners.setdefault(str(path.parent).casefold(), one.id) != one.id and not MOODLE.search(one.place):
            path = Path(f"{path.parent}-{hashlib.sha256(one.id.encode()).hexdigest()[:8]}", path.name)
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("w", encoding="utf-8") as file, _typed_by_learners():
            file.write("\ufeff")  # else a browser takes it for Latin-1
            seen_by_the_learner(Terminal(file), day, verdict, source)
        written[one.id, one.day] = place
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for place in written.values():
            archive.write(place, place.relative_to(folder))
    return written


@contextmanager
def _typed_by_learners() -> Iterator[None]:
    """Commands are shown as learners type them, not as the teacher did."""
    before = os.environ.get("TRACK_COMMAND", "")
    os.environ["TRACK_COMMAND"] = "./track"
    try:
        yield
    finally:
        os.environ["TRACK_COMMAND"] = before


def path_of(id: str, day: Day, place: str) -> Path:
    """The file for a learner's day, in Moodle's own folder where the hand-in lay in one, else in one that is
    called like the learner, less what some file system minds.
    """
    name = f"{'' if day.number is None else 'day'}{day.label}.txt"
    if moodle := MOODLE.search(place):
        return Path(moodle[0], name)
    canvas = CANVAS.search(place)
    return Path(re.sub(r'[<>:"|?*]|[. ]$', "_", id), f"{canvas[0] if canvas else ''}{name}")

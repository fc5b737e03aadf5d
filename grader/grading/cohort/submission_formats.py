"""The three forms in which a cohort hands in: a folder, a zip, JSON lines."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import BadSubmission
from grader.grading.cohort.archive_entries import BROKEN, MOST_BYTES, PACKED, Entry, Parts, entries
from grader.grading.cohort.file_selection import HIDDEN, NOT_ASKED, OURS, pick
from grader.grading.cohort.layouts import Place, arranged
from grader.grading.cohort.submission import Item, Submission, Trouble, Unfit, small_enough, the_day, the_id

HELP = "track cohort collect --help"
NOBODY = "its path names no learner"
NOTHING = "nothing is graded: no file is named as a day, like day13.py or day13_fused_softmax/kernel.py"
NO_WORK = "nothing is graded: only the course itself is there, and no my-track/, where work lies"


class HandIn(NamedTuple):
    """What was handed in.

    Attributes:
        layout: how it is laid out: a key of PATTERNS, `match` or `lines`.
        around: the folder in which the learners' are found, "" for the one that was named.
    """

    layout: str
    around: str
    items: Iterator[Item]


def read(
    place: str, layout: str | None = None, match: str | None = None, wanted: Collection[Day] | None = None
) -> HandIn:
    """All that `place` holds: a folder or zip, laid out as `layout` says; a file of JSON lines; or `-`, which
    is JSON lines on stdin.

    Args:
        layout: a key of PATTERNS; None to see it from the names.
        match: a regular expression that says whose a file is, in its stead.
        wanted: the days that are graded; None for all.

    Raises:
        BadSubmission: it is none of these; raised before anything is yielded.
        TrackError: `match` is none.
    """
    path, days = Path(place), frozenset(catalog.course() if wanted is None else wanted)
    if place == "-":
        if sys.stdin is None:
            raise BadSubmission("There is no stdin to read.", HELP)
        return HandIn("lines", "", _lines(sys.stdin.buffer, 0, days))
    try:
        file = None if path.is_dir() else path.open("rb")
    except OSError as error:
        raise BadSubmission(f"{place} cannot be read: {error.strerror}.", HELP) from error
    if file and path.suffix.lower() != ".zip":
        if path.suffix.lower() in (".py", ".ipynb", *PACKED):
            file.close()
            raise BadSubmission(f"{place} is neither a folder, nor a zip, nor JSON lines.", HELP)
        return HandIn("lines", "", _lines(file, path.stat().st_size, days))
    if file:
        file.close()
    return _laid_out(path, layout, match, days)


def _lines(file: BinaryIO, size: int, wanted: Collection[Day]) -> Iterator[Item]:
    """A submission a line: `{"id": "ann", "day": 13, "source": "import torch\\n…"}`.

    Args:
        size: of the file in bytes, 0 where nobody knows.
    """
    with file:
        for number, line in enumerate(iter(file.readline, b""), 1):
            try:
                if line.strip() and (record := _record(line)).day in wanted:
                    yield replace(record, share=file.tell() / size if size else None)
            except Unfit as unfit:
                yield Trouble(f"line {number}", str(unfit))


def _record(line: bytes) -> Submission:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise Unfit("it is no JSON") from None
    if not isinstance(record, dict) or not {"id", "day", "source"} <= record.keys():
        raise Unfit('it is no {"id": …, "day": …, "source": …}')
    day, source = record["day"], record["source"]
    if isinstance(day, bool) or not isinstance(day, (int, str)) or not isinstance(source, str):
        raise Unfit("day is a number or a name, and source a text")
    try:
        text = source.encode()
    except UnicodeEncodeError:
        raise Unfit("source holds half of a character (a lone surrogate)") from None
    small_enough(len(text))
    return Submission(the_id(record["id"]), the_day(str(day)), text)


def _laid_out(path: Path, name: str | None, match: str | None, wanted: Collection[Day]) -> HandIn:
    """What a folder or a zip holds, learner by learner."""
    found = sorted(entries(path), key=lambda entry: entry.parts)
    paths = [(*entry.parts, "") if entry.kind == "folder" else entry.parts for entry in found]

    def text(parts: Parts) -> str:
        with suppress(*BROKEN), found[paths.index(parts)].opened() as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
        return ""

    around = path.resolve().name if path.is_dir() else path.resolve().stem
    layout = arranged(paths, around, name, match, text)
    learners, nobody = defaultdict[str, list[tuple[Entry, Place]]](list), list[Entry]()
    for parts, entry in zip(paths, found, strict=True):
        place = layout.place(parts)
        if place:
            for learner in place.learners:
                learners[learner].append((entry, place))
        elif entry.listed:
            nobody.append(entry)
    return HandIn(layout.name, "/".join(layout.base), _all(learners, nobody, wanted))


def _all(
    learners: dict[str, list[tuple[Entry, Place]]], nobody: list[Entry], wanted: Collection[Day]
) -> Iterator[Item]:
    for entry in nobody:
        hidden = entry.kind == "hidden"
        work = entry.named(".py", ".ipynb", ".zip", *PACKED) or bool(entry.problem)
        yield Trouble(entry.path, HIDDEN if hidden else entry.problem or NOBODY, work)
    for number, learner in enumerate(sorted(learners), 1):
        for item in _learner(learner, learners[learner], wanted):
            yield replace(item, share=number / len(learners)) if isinstance(item, Submission) else item


def _learner(learner: str, files: list[tuple[Entry, Place]], wanted: Collection[Day]) -> Iterator[Item]:
    """What one learner handed in: files that are graded, then all others."""
    try:
        the_id(learner)
        graded, left = pick(files, wanted)
    except Unfit as unfit:
        graded, left = {}, [Trouble(one.path, one.problem or str(unfit)) for one, _ in files if one.listed]
    for day, file in graded.items():
        entry, when = file.entry, file.place.handed_in(file.entry.handed_in)
        try:
            yield Submission(learner, day, entry.read(), when=when, where=entry.path)
        except Unfit as unfit:
            yield Trouble(entry.path, str(unfit))
    yield from left
    reasons = {one.problem for one in left}
    if not (graded or NOT_ASKED in reasons or any(one.work for one in left)):
        yield Trouble(learner, NO_WORK if OURS in reasons else NOTHING)

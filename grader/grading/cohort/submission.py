"""What was handed in, one file at a time: from a folder, from zips, or from JSON lines.

A reader yields a `Submission` for each file that can be graded and a `Trouble` for each that cannot. It holds
one file at a time, so that a million lines need no more memory than one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError, UnknownDay
from grader.grading.precheck import LARGEST

NO_DAY = "nothing in it is named as a day: day13.py, or day13_fused_softmax/kernel.py"
LONGEST_ID = 100  # characters
# Beside .zip, what files are packed into.
PACKED = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".rar", ".7z")
# Folders that a path may lead through between the learner's and the day's.
BETWEEN = ("my-track", "extras")


@dataclass(frozen=True)
class Submission:
    """One file of one learner, or one candidate.

    Attributes:
        id: whose it is; printable, and nothing that could be a path.
        source: at most LARGEST bytes.
        share: how much of all that was handed in is read by now, 0 to 1; None where nobody knows.
        when: the time of the hand-in, with its zone: as the learning platform says it, else that of the file
            or of the archive in which it came. None where nobody knows.
        where: the path of the file in what was handed in, archives as folders; "" where it has none.
    """

    id: str
    day: Day
    source: bytes
    share: float | None = None
    when: datetime | None = None
    where: str = ""


@dataclass(frozen=True)
class Trouble:
    """What cannot be graded: where it stands, and why, in one line."""

    where: str
    problem: str


@dataclass(frozen=True)
class Other:
    """A file that is named as a day's kernel and is no Python: a notebook, or a text."""

    id: str
    day: Day
    where: str


Item = Submission | Trouble


class Unfit(Exception):
    """The message says why one thing cannot be graded."""


def the_id(text: object) -> str:
    """`text`, where it can be an id.

    Raises:
        Unfit: it cannot.
    """
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_ID:
        raise Unfit(f"an id is a text of 1 to {LONGEST_ID} characters")
    if not text.isprintable() or "/" in text or "\\" in text or not text[0].isalnum():
        raise Unfit("an id begins with a letter or digit and has neither / nor \\ nor control characters")
    return text


@cache
def the_day(text: str) -> Day:
    """The day of the course that `text` names.

    Raises:
        Unfit: there is none.
    """
    try:
        found = catalog.find(text)
    except UnknownDay as error:
        raise Unfit(error.problem) from None
    if found not in catalog.course():
        raise Unfit("The warm-up is not graded.")
    return found


def small_enough(size: int) -> None:
    """Lets a file of so many bytes pass.

    Raises:
        Unfit: no kernel is as large.
    """
    if size > LARGEST:
        raise Unfit(f"the file has more than {LARGEST:,} bytes, which no kernel has")


def named(parts: Sequence[str]) -> tuple[int, Day] | None:
    """The place in a path that names a day, and the day; None where the file is no kernel of a day.

    `day13.py`, `day13_fused_softmax/kernel.py` and `extras/rope/kernel.py` are kernels.

    Raises:
        Unfit: a day is named that does not exist.
    """
    *folders, name = parts
    if not name.lower().endswith(".py"):
        return None
    if name == "kernel.py" and folders:
        found = _day(folders[-1])
        return (len(folders) - 1, found) if found else None
    if any(_day(folder) for folder in folders):  # a helper beside a kernel
        return None
    found = _day(PurePosixPath(name).stem)
    return (len(folders), found) if found else None


def instead(parts: Sequence[str]) -> tuple[int, Day] | None:
    """The same of `day13.ipynb` and the like, which are no kernels.

    Raises:
        Unfit: a day is named that does not exist.
    """
    *folders, name = parts
    stem, dot, _ = name.rpartition(".")
    return named((*folders, f"{stem}.py")) if dot and re.match("day", stem, re.IGNORECASE) else None


def _day(name: str) -> Day | None:
    """The day of `day13`, `Day 13 final` or `rope`."""
    number = re.match(r"day[\s_-]*0*(\d{1,9})(?!\d)", name, re.IGNORECASE)
    if number:
        return the_day(number[1])
    return next((extra for extra in catalog.extras() if extra.slug == name), None)


def whose(parts: Sequence[str], place: int, nobody: str) -> str:
    """The id in a path whose part `place` names the day: the folder before, else `nobody`.

    Raises:
        Unfit: it can be no id.
    """
    before = [part for part in parts[:place] if part not in BETWEEN]
    return the_id(before[-1] if before else nobody)


def complete(items: Iterator[Item | Other], name: str) -> Iterator[Item]:
    """What lies in `name`; and in the end a line on each `Other` whose kernel is not there, or on nothing."""
    found, graded, others = False, set(), dict[tuple[str, Day], str]()
    for item in items:
        if isinstance(item, Other):
            others.setdefault((item.id, item.day), item.where)
            continue
        if isinstance(item, Submission):
            graded.add((item.id, item.day))
        found = True
        yield item
    for key, where in others.items():
        if key not in graded:
            found = True
            yield Trouble(where, f"it is named as a day and is no Python file, as day{key[1].label}.py is")
    if not found:
        yield Trouble(name, NO_DAY)


def chosen(text: str) -> frozenset[Day]:
    """The days of `8-14,20,rope`.

    Raises:
        TrackError: one of them does not exist, or the list is empty.
    """
    found: set[Day] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        span = re.fullmatch(r"(\d+)\s*-\s*(\d+)", part)
        if span:
            first, last = int(span[1]), int(span[2])
            found |= {day for day in catalog.days() if first <= day.anchor <= last}
        else:
            found.add(catalog.find(part))
    if not found:
        raise TrackError(f'"{text}" names no day.', "track cohort grade SUBMISSIONS --days 8-14,20,rope")
    return frozenset(found)

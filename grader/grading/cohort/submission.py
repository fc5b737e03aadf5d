"""What was handed in, one file at a time: from a folder, from zips, or from JSON lines.

A reader yields a `Submission` for each file that is graded and a `Trouble` for each that is not. It holds one
file at a time, so that a million lines need no more memory than one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError, UnknownDay
from grader.grading.precheck import LARGEST

WARM_UP = "The warm-up is not graded."
LONGEST_ID = 100  # characters


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
    """What is not graded: where it stands, and why, in one line.

    Attributes:
        work: it looks like work, so that somebody should see to it.
    """

    where: str
    problem: str
    work: bool = True


Item = Submission | Trouble


class Unfit(Exception):
    """The message says why one thing cannot be graded."""


def the_id(text: object) -> str:
    """`text`, where it can be an id.

    Raises:
        Unfit: it cannot.
    """
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_ID:
        raise Unfit(f"a name is a text of 1 to {LONGEST_ID} characters")
    if wrong := next((one for one in text if not one.isprintable() or one in "/\\"), None):
        said = f"has a {wrong}" if wrong in "/\\" else f"has an invisible U+{ord(wrong):04X}"
        said = "is not in UTF-8" if "\ud800" <= wrong <= "\udfff" else said
        raise Unfit(f"the name {said}: write it with letters, digits, spaces and signs such as -")
    if not text[0].isalnum():
        raise Unfit("a name begins with a letter or digit")
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
        raise Unfit(WARM_UP)
    return found


def small_enough(size: int) -> None:
    """Lets a file of so many bytes pass.

    Raises:
        Unfit: no kernel is as large.
    """
    if size > LARGEST:
        raise Unfit(f"the file has more than {LARGEST:,} bytes, which no kernel has")


def day_of(name: str, anywhere: bool = False) -> Day | None:
    """The day that a name without its ending begins with: `day13`, `Day 13 final`, `rope`.

    Args:
        anywhere: also one that stands further back, as in `ann_day13`.

    Raises:
        Unfit: a day is named that does not exist.
    """
    number = re.search(r"(?:^|[^a-z])day[\s_-]*0*(\d{1,9})(?!\d)", name, re.IGNORECASE)
    if number and (anywhere or number.start() == 0):
        return the_day(number[1])
    return next((extra for extra in catalog.extras() if extra.slug == name.lower()), None)


def chosen(text: str) -> frozenset[Day]:
    """The days of `8-14,20,rope`.

    Raises:
        TrackError: one of them does not exist or is not graded, or the list is empty.
    """
    found: set[Day] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        span = re.fullmatch(r"(\d+)\s*-\s*(\d+)", part)
        if span:
            first, last = int(span[1]), int(span[2])
            found |= {day for day in catalog.days() if first <= day.anchor <= last}
        else:
            found.add(catalog.find(part))
    if not found or catalog.WARM_UP in found:
        problem = WARM_UP if found else f'"{text}" names no day.'
        raise TrackError(problem, "Name other days, such as 8-14,20,rope.")
    return frozenset(found)

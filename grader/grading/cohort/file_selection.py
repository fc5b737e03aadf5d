"""Which of a learner's files is graded for which day, and why each other one is not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.entry_functions import readers
from grader.course.learner.workspace import FOLDER
from grader.grading.cohort.archive_entries import PACKED, Entry, Parts
from grader.grading.cohort.layouts import Place, without_zip
from grader.grading.cohort.submission import WARM_UP, Trouble, Unfit, day_of, the_day
from grader.grading.precheck import precheck

HIDDEN = "hidden or a cache"
OURS = "the course's own file"
NOT_ASKED = "--days does not ask for it"
NO_PYTHON = "it is no Python file"
VERSION = ("grader", "version.py")  # lies in each clone of the course
# `day13 (1)` of a browser, `kernel-1` of Canvas, `kernel copy` of a Mac.
COPY = re.compile(r"[ _-]*(?:\((\d+)\)|-(\d+)| copy(?: (\d+))?)$", re.IGNORECASE)


@dataclass(frozen=True)
class File:
    """A file of a learner, what day it seems to be for, and why it is not graded, "" where it may be.

    Attributes:
        work: it looks like work, whatever else is graded.
    """

    entry: Entry
    place: Place
    day: Day | None = None
    reason: str = ""
    work: bool = False


def pick(
    files: Sequence[tuple[Entry, Place]], wanted: Collection[Day]
) -> tuple[dict[Day, File], list[Trouble]]:
    """The file of each day, and all others. Work in a workspace counts before any other, and an untouched
    skeleton after all. Then the newest counts.

    Args:
        files: of one learner.
        wanted: the days that are graded.
    """
    roots = _Roots([place.rest for _, place in files])
    looked = [_look(entry, place, roots, wanted) for entry, place in files if entry.listed]
    likely = [one for one in looked if one.day and not one.reason]
    graded: dict[Day, File] = {}
    left = []
    for day in catalog.course():
        ones = [one for one in likely if one.day == day]
        if len(ones) > 1:
            ones.sort(key=lambda one: _rank(one, roots), reverse=True)
            left += [_superseded(one, ones[0], roots) for one in ones[1:]]
        if ones:
            graded[day] = ones[0]
    for one in looked:
        if one.reason:
            work = one.work or (one.day in wanted and one.day not in graded)
            left.append(Trouble(one.entry.path, one.reason, work))
    return graded, left


class _Roots:
    """The workspaces and the clones of the course among a learner's files."""

    def __init__(self, paths: Sequence[Parts]) -> None:
        self._tracks = {path[:-1] for path in paths if path[-1:] == (".track",)}
        self._clones = [path[:-2] for path in paths if path[-2:] == VERSION]

    def workspace(self, path: Parts) -> bool:
        return FOLDER in path or any(path[:depth] in self._tracks for depth in range(len(path)))

    def ours(self, path: Parts) -> bool:
        """Whether it is the course's, in a clone."""
        tops = {path[len(clone)] for clone in self._clones if path[: len(clone)] == clone}
        own = any(top == "tests" or (catalog.ROOT / top).exists() for top in tops)
        return own and not self.workspace(path)


def _look(entry: Entry, place: Place, roots: _Roots, wanted: Collection[Day]) -> File:
    """What a file is for, or why it is not graded, by itself."""
    if entry.kind == "hidden" or roots.ours(place.rest):
        return File(entry, place, reason=HIDDEN if entry.kind == "hidden" else OURS)
    packed = entry.named(".zip", *PACKED)
    try:
        day, reason = _day(entry, place, wanted)
    except Unfit as unfit:
        work = packed or (entry.named(".py", ".ipynb") and str(unfit) != WARM_UP)
        return File(entry, place, None, str(unfit), work)
    if entry.problem:
        work = packed or entry.kind == "folder" or (day is not None and not reason)
        return File(entry, place, day, entry.problem, work)
    return File(entry, place, day, reason or (NOT_ASKED if day and day not in wanted else ""))


def _day(entry: Entry, place: Place, wanted: Collection[Day]) -> tuple[Day | None, str]:
    """The day that a file is for, and why it is not graded nevertheless.

    Raises:
        Unfit: it is for a day that does not exist, or for nobody can say which.
    """
    *folders, name = place.rest
    stem = COPY.sub("", PurePosixPath(name).stem)
    around = the_day(place.day) if place.day else None
    for folder in folders[::-1]:
        around = around or day_of(without_zip(folder))
    if around and name in around.handed_out and name != "kernel.py":
        return None, OURS
    named, kernel = day_of(stem, anywhere=True), stem.lower() == "kernel"
    day = named or around
    if not name.lower().endswith(".py"):
        told = day and (re.search("day|kernel", stem, re.IGNORECASE) or entry.named(".ipynb"))
        return (day, f"{NO_PYTHON}, as day{day.label}.py is") if day and told else (None, NO_PYTHON)
    if around and (kernel or place.day or named == around):
        return around, ""
    if around:
        return day, f"only kernel.py is graded in a folder of {around.kind} {around.key}"
    return (named, "") if named else _by_functions(entry, kernel, wanted)


def _by_functions(entry: Entry, kernel: bool, wanted: Collection[Day]) -> tuple[Day | None, str]:
    """The day whose functions are in a file that no name puts anywhere: a `kernel.py`, or any other.

    Raises:
        Unfit: a kernel.py that may be for several days, or for none.
    """
    found = readers(entry.read())
    asked = [day for day in found if day in wanted] or found
    has = f"it has the functions of {' and '.join(f'{day.kind} {day.key}' for day in asked)}"
    if not kernel:
        return next(iter(asked), None), "it is not named as a day" + (f", and {has[3:]}" if found else "")
    if not found and len(wanted) > 1:
        raise Unfit("nothing says which day it is for: grade it with --days and its day")
    if len(asked) > 1 and asked[0] in wanted:
        again = " or ".join(f"--days {day.key}" for day in asked)
        raise Unfit(f"{has}: grade it with {again}")
    return next(iter(asked or wanted)), ""


def _rank(one: File, roots: _Roots) -> tuple[bool, bool, int, int, int, int, int, str]:
    """Of two files of a day that with the larger rank counts. Times that a zip cannot tell apart are one."""
    touched, rest = True, one.place.rest
    with suppress(Unfit):
        refused = one.day and precheck(one.day, one.entry.read())
        touched = not refused or refused.status != "unstarted"
    saved = one.entry.time if one.place.dated or one.entry.came else None
    times = one.place.handed_in(one.entry.handed_in), saved
    came, changed = (int(time.timestamp()) // 2 if time else 0 for time in times)
    copy = COPY.search(PurePosixPath(rest[-1]).stem)
    number = int(next(filter(None, copy.groups()), 1)) if copy else 0
    return touched, roots.workspace(rest), one.place.order, came, changed, number, -len(rest), "/".join(rest)


def _superseded(one: File, first: File, roots: _Roots) -> Trouble:
    """Why `one` is not graded and `first` is. Somebody should see to it where it may be another's."""
    path, other, rank, best = one.entry.path, first.entry.path, _rank(one, roots), _rank(first, roots)
    with suppress(Unfit):
        if one.entry.read() == first.entry.read():
            return Trouble(path, f"a copy of {other}, which is graded", work=False)
    if rank[0] < best[0]:
        return Trouble(path, f"the skeleton as it was handed out; {other} is graded", work=False)
    if rank[1] < best[1]:
        return Trouble(path, f"{other} is graded: a workspace counts first", work=False)
    if rank[:6] == best[:6]:
        return Trouble(path, f"as old as {other}, which is graded")
    around = [[name for name in file.place.rest[:-1] if name == without_zip(name)] for file in (one, first)]
    return Trouble(path, f"older than {other}, which is graded", work=around[0] != around[1])

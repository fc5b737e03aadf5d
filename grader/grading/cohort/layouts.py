"""How learning platforms name what they hand out for download: whose a file is, and when it was handed in.

Moodle names by `mod/assign/classes/downloader.php`, Canvas by `lib/content_zipper.rb`, GitHub Classroom by
`gh classroom clone student-repos` (`cmd/gh-classroom/clone/student-repos/student-repos.go`): those files of
moodle/moodle, instructure/canvas-lms and github/gh-classroom were read. Of Gradescope's export no source is
public: its `submission_metadata.yml` is as programs have it that read it. `--match` is modelled on nbgrader's
FileNameCollectorPlugin (`nbgrader zip_collect`).
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from grader.errors import TrackError, pasted

Parts = tuple[str, ...]
METADATA = "submission_metadata.yml"  # of Gradescope
ENDING = "-submissions"  # of the folder in which `gh classroom clone` puts all repositories

# `Ann Smith_12345_assignsubmission_file_/day13.py`; without folders `…_file_day13.py`. No name has a `_`, and
# the group of those who are in none has no number.
MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL
)
# `smithann_LATE_12345_678910_day13.py`: a user, then an attachment, whose numbers grow. `anon_x7Kq2` is the
# user of an anonymous assignment.
CANVAS = re.compile(
    r"(?:(?P<name>\w+?)(?:_LATE)?_(?P<user>\d+)|(?:LATE_)?(?P<anonymous>anon_[^\W_]+))"
    r"_(?:(?P<order>\d+)_(?P<file>.+)|(?P<text>(?:text|link)\.html))",
    re.DOTALL | re.IGNORECASE,
)
GRADESCOPE = re.compile(r"submission_\d+|" + re.escape(METADATA))


@dataclass(frozen=True)
class Place:
    """What the path of a file says.

    Attributes:
        learners: whose it is; more than one where a group handed it in.
        rest: its path within what they handed in.
        when: of the hand-in, as the platform says it; None where it says nothing.
        order: a later hand-in has a larger one, where the platform counts them.
        day: the day that `--match` read off the path, "" where it did not.
    """

    learners: tuple[str, ...]
    rest: Parts
    when: datetime | None = None
    order: int = 0
    day: str = ""


# None for a path that is no learner's.
Layout = Callable[[Parts], Place | None]


def recognised(tops: Sequence[str], around: str) -> str:
    """The layout that most names at the top have: a key of LAYOUTS.

    Args:
        around: the name of the folder or archive that they lie in.
    """
    for name, sign in (("moodle", MOODLE), ("canvas", CANVAS), ("gradescope", GRADESCOPE)):
        if 2 * sum(bool(sign.fullmatch(top)) for top in tops) > len(tops):
            return name
    slug = around.removesuffix(ENDING)
    if slug != around and all(top.startswith(f"{slug}-") for top in tops):
        return "classroom"
    return "plain"


def moodle(tops: Sequence[str], around: str, metadata: str) -> Layout:
    """A learner is called by the full name. Its number stands behind it where two have the same name: Moodle
    draws it anew for each assignment.
    """
    numbers: dict[str, set[str]] = defaultdict(set)
    for found in filter(None, map(MOODLE.fullmatch, tops)):
        numbers[found["name"]].add(found["number"] or "")

    def locate(parts: Parts) -> Place | None:
        found = MOODLE.fullmatch(parts[0])
        if not found:
            return None
        name = found["name"] if len(numbers[found["name"]]) < 2 else f"{found['name']}_{found['number']}"
        return Place((name,), (found["file"], *parts[1:]) if found["file"] else parts[1:])

    return locate


def canvas(tops: Sequence[str], around: str, metadata: str) -> Layout:
    """A learner is called `smithann_12345`: the number is the user's in all of Canvas, its gradebook too."""

    def locate(parts: Parts) -> Place | None:
        found = CANVAS.fullmatch(parts[0])
        if not found:
            return None
        learner = found["anonymous"] or f"{found['name']}_{found['user']}"
        return Place((learner,), (found["file"] or found["text"], *parts[1:]), order=int(found["order"] or 0))

    return locate


def gradescope(tops: Sequence[str], around: str, metadata: str) -> Layout:
    """A learner is called by the e-mail address, else by the student's number or name, of the metadata; where
    there are none, by the folder.
    """
    known = _submitters(metadata)

    def locate(parts: Parts) -> Place | None:
        learners, when = known.get(parts[0], ((), None))
        return Place(learners or (parts[0],), parts[1:], when) if len(parts) > 1 else None

    return locate


def _submitters(metadata: str) -> dict[str, tuple[tuple[str, ...], datetime | None]]:
    """Who handed in a folder, and when. Of YAML only the few lines are read that are needed."""
    found = {}
    for block in re.split(r"^(?=\S)", metadata, flags=re.MULTILINE):
        folder, _, rest = block.partition(":\n")
        people = rest.partition(":submitters:")[2].partition("\n  :")[0]
        learners = []
        for person in re.split(r"^\s*- ", people, flags=re.MULTILINE)[1:]:
            said = dict(re.findall(r"^\s*:(\w+): *['\"]?(.*?)['\"]?\s*$", person, re.MULTILINE))
            learners.append(next(filter(None, map(said.get, ("email", "sid", "name"))), folder))
        at = re.search(r"^  :created_at: *(.+)$", rest, re.MULTILINE)
        found[folder] = tuple(learners), stamp(at[1]) if at else None
    return found


def classroom(tops: Sequence[str], around: str, metadata: str) -> Layout:
    """A learner is called by the name at GitHub: a repository is `assignment-name`, in a folder
    `assignment-submissions`. What lies there is read, whichever branch it is.
    """
    slug = around.removesuffix(ENDING)
    common = os.path.commonprefix(tops).rpartition("-")[0]  # noqa: RUF071, of texts
    before = f"{common if slug == around else slug}-"
    return lambda parts: Place((parts[0].removeprefix(before),), parts[1:]) if len(parts) > 1 else None


def plain(tops: Sequence[str], around: str, metadata: str) -> Layout:
    """A folder or archive for each learner, named like them."""
    return lambda parts: Place((parts[0],), parts[1:]) if len(parts) > 1 else None


LAYOUTS: dict[str, Callable[[Sequence[str], str, str], Layout]] = {
    "moodle": moodle,
    "canvas": canvas,
    "gradescope": gradescope,
    "classroom": classroom,
    "plain": plain,
}


def matching(pattern: str) -> Layout:
    """Whose a file is by a regular expression, which is searched for in its path: `learner`, and where they
    are there `day` and `time`, are its named groups.

    Raises:
        TrackError: it is no regular expression, or has no group `learner`.
    """
    again = "track cohort collect SUBMISSIONS --match " + pasted(r"(?P<learner>\w+)_day(?P<day>\d+)")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise TrackError(f"--match is no regular expression: {error}.", again) from None
    if "learner" not in expression.groupindex:
        raise TrackError("--match has no group named learner.", again)

    def locate(parts: Parts) -> Place | None:
        found = expression.search("/".join(parts))
        said = found.groupdict() if found else {}
        if not said.get("learner"):
            return None
        return Place((said["learner"],), parts, stamp(said.get("time") or ""), day=said.get("day") or "")

    return locate


def stamp(text: str) -> datetime | None:
    """The time that `2026-04-26 17:34:00 Z`, `20260426T1734` or `2026-04-26-17-34-00` says, on this machine's
    clock where it names no zone; None where it says none.
    """
    digits = "".join(re.findall(r"\d+", text))[:14]
    try:
        found = datetime.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S")
        zoned = re.search(r"(Z|UTC|GMT)$", text.strip(), re.IGNORECASE)
        return found.replace(tzinfo=timezone.utc) if zoned else found.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def one_spelling(names: Iterable[str]) -> tuple[str, ...]:
    """Names as one and the same text, whichever way a system spells `ü`: Unicode's normal form C."""
    return tuple(unicodedata.normalize("NFC", name) for name in names)

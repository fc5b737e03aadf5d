"""How learning platforms name what they hand out for download: whose a file is, and when it was handed in.

Moodle names by `mod/assign/classes/downloader.php`, Canvas by `lib/content_zipper.rb`, GitHub Classroom by
`cmd/gh-classroom/clone/student-repos/student-repos.go`: those files of moodle/moodle, instructure/canvas-lms
and github/gh-classroom were read. Gradescope's `submission_metadata.yml` is as public programs have it that
read it. Moodle and Canvas give the writers of their zips (`archive_writer/zip_writer.php`, rubyzip) no time
for a file, so it is the one of the download. `--match` is modelled on nbgrader's FileNameCollectorPlugin.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from grader.course.learner.workspace import FOLDER
from grader.errors import TrackError, pasted
from grader.grading.cohort.archive_entries import Parts

METADATA = "submission_metadata.yml"  # of Gradescope
ENDING = "-submissions"  # of the folder in which `gh classroom clone` puts all repositories
PATTERNS = {
    # `Ann Smith_12345_assignsubmission_file_/day13.py`, or without folders `…_file_day13.py`. No name has a
    # `_`, and those who are in no group have no number. A learner's number is another in each assignment.
    "moodle": r"(?P<learner>[^_/]+)(_(?P<number>\d+))?_assignsubmission_(file|onlinetext)_?/?(?P<rest>.*)",
    # `smithann_LATE_12345_678910_day13.py`: a user, whose number is one in all of Canvas, then an attachment,
    # whose number grows. `anon_x7Kq2` is the user of an anonymous assignment.
    "canvas": r"(?P<learner>\w+?_\d+|anon_[^\W_]+)_(?=\d+_|text\.|link\.)((?P<order>\d+)_)?(?P<rest>.+)",
    "gradescope": r"(?P<learner>submission_\d+)(/(?P<rest>.*)|$)",
    "classroom": r"SLUG-(?P<learner>[^/]+)/(?P<rest>.*)",
    "plain": r"(?P<learner>[^/]+?)(\.(?i:zip))?/(?P<rest>.*)",
}
UNDATED = ("moodle", "canvas")
LATE = re.compile(r"(^|_)LATE_")  # of Canvas
# A folder that is called so holds all learners', and is none's.
CLASS = re.compile(
    r"(week|hw|homework|assignment|lab|exercise|project|task|class|cohort|course|students|groups|submission"
    r"|hand-?in|upload|download|export)(s|es)?(?![a-z])",
    re.IGNORECASE,
)
A_DAY = re.compile(r"day[\s_-]*\d", re.IGNORECASE)
OWN = {FOLDER, "grader"}  # stand at the top of one learner's: of what is around a workspace, of a clone


@dataclass(frozen=True)
class Place:
    """What the path of a file says.

    Attributes:
        learners: whose it is; more than one where a group handed it in.
        rest: its path within what they handed in.
        when: of the hand-in, as the platform says it; None where it says nothing.
        order: a later hand-in has a larger one, where the platform counts them.
        day: the day that `--match` read off the path, "" where it did not.
        dated: whether the time of a file, or of the zip that it came in, is that of the hand-in.
    """

    learners: tuple[str, ...]
    rest: Parts
    when: datetime | None = None
    order: int = 0
    day: str = ""
    dated: bool = True

    def handed_in(self, changed: datetime | None) -> datetime | None:
        """When, as the platform says it, else by the time of the file or its zip; None where nobody knows."""
        return self.when or (changed if self.dated else None)


# Who handed something in, and when.
Who = tuple[tuple[str, ...], datetime | None]


@dataclass(frozen=True)
class Layout:
    """How all that was handed in is laid out.

    Attributes:
        name: a key of PATTERNS, or `match`.
        base: the folder that holds all learners'.
        pattern: searched for in a path below `base`; its groups are those of PATTERNS, `day` and `time`.
        known: who stands behind a name and a number in a path, where it is not just the name.
    """

    name: str
    base: Parts
    pattern: re.Pattern[str]
    known: Mapping[tuple[str, str], Who]

    def place(self, parts: Parts) -> Place | None:
        """None for a path that is no learner's. Names are in Unicode's form C, however a system has `ü`."""
        path = "/".join(parts[len(self.base) :])
        path = LATE.sub(r"\1", path, count=1) if self.name == "canvas" else path
        found = self.pattern.search(path) if parts[: len(self.base)] == self.base else None
        said = {name: text or "" for name, text in found.groupdict().items()} if found else {}
        name, at = said.get("learner", ""), stamp(said.get("time", ""))
        who, when = self.known.get((name, said.get("number", "")), ((name,) if name else (), at))
        if not found or not who or (self.name == "plain" and A_DAY.match(name)):
            return None
        rest, order = said.get("rest", path).split("/"), int(said.get("order") or 0)
        learners = tuple(unicodedata.normalize("NFC", one) for one in who)
        return Place(learners, tuple(rest), when, order, said.get("day", ""), self.name not in UNDATED)


def arranged(
    paths: Sequence[Parts], around: str, name: str | None, match: str | None, read: Callable[[Parts], str]
) -> Layout:
    """The layout of `paths`; that of a folder ends in "".

    Args:
        around: the name of what holds them all.
        name: a key of PATTERNS; None to see it from the names.
        match: a pattern in its stead.
        read: the text of one of them, "" where there is none.

    Raises:
        TrackError: `match` is no regular expression with a group `learner`.
    """
    if match is not None:
        return Layout("match", (), _given(match), {})
    base = _base(paths, around)
    tops, near = _tops(paths, base), without_zip(base[-1]) if base else around
    name = name or recognised(tops, near)
    if name == "plain" and _of_one(tops):
        return Layout(name, base, re.compile(""), {("", ""): ((near,), None)})
    slug = near.removesuffix(ENDING)
    if slug == near:
        slug = os.path.commonprefix(list(tops)).rpartition("-")[0]  # noqa: RUF071, of texts
    pattern = re.compile(r"\A" + PATTERNS[name].replace("SLUG", re.escape(slug)), re.DOTALL)
    known = submitters(read((*base, METADATA))) if name == "gradescope" else {}
    if name == "moodle":
        pairs = {(one["learner"], one["number"] or "") for one in map(pattern.match, tops) if one}
        times = Counter(learner for learner, _ in pairs)
        known = {pair: (("_".join(pair),), None) for pair in pairs if times[pair[0]] > 1}
    return Layout(name, base, pattern, known)


def recognised(tops: Mapping[str, bool], around: str) -> str:
    """The layout, a key of PATTERNS, that most names at the top have.

    Args:
        tops: what lies there, and whether it holds something.
        around: the name of the folder or zip that they lie in.
    """
    if METADATA in tops:
        return "gradescope"
    for name in ("moodle", "canvas", "gradescope"):
        if 2 * sum(bool(re.match(PATTERNS[name], LATE.sub(r"\1", top))) for top in tops) > len(tops):
            return name
    slug = around.removesuffix(ENDING)
    return "classroom" if slug != around and all(top.startswith(f"{slug}-") for top in tops) else "plain"


def _of_one(tops: Mapping[str, bool]) -> bool:
    """Whether all is one learner's: a workspace or a clone, or mostly days lie at the top."""
    folders = [name for name in tops if tops[name]] or list(tops)
    return bool(OWN & tops.keys()) or 2 * sum(bool(A_DAY.match(name)) for name in folders) > len(folders)


def _base(paths: Sequence[Parts], around: str) -> Parts:
    """The folders around what all learners handed in, as a zip often has one."""
    base: Parts = ()
    while len(tops := _tops(paths, base)) == 1 and all(tops.values()):
        (top,) = tops
        below, name = _tops(paths, (*base, top)), without_zip(top)
        wraps = name == around or CLASS.match(name)
        if recognised(below, name) == "plain" and (
            not wraps or OWN & below.keys() or any(map(A_DAY.match, below))
        ):
            break
        base = (*base, top)
    return base


def _tops(paths: Sequence[Parts], base: Parts) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for parts in paths:
        if parts[: len(base)] == base and len(parts) > len(base):
            name = parts[len(base)]
            found[name] = found.get(name, False) or len(parts) > len(base) + 1
    return {name: holds for name, holds in found.items() if name[:1] not in (".", "") and name != "__MACOSX"}


def without_zip(name: str) -> str:
    """The name of a folder or zip, without the ending of the latter."""
    return re.sub(r"\.zip$", "", name, flags=re.IGNORECASE)


def submitters(metadata: str) -> dict[tuple[str, str], Who]:
    """By folder, which has no number, who handed it in, and when: by the e-mail address, else the student's
    number or name. Of YAML only the few lines are read that are needed.
    """
    found = {}
    for block in re.split(r"^(?=\S)", metadata, flags=re.MULTILINE):
        folder, _, rest = block.partition(":\n")
        people = rest.partition(":submitters:")[2].partition("\n  :")[0]
        learners = []
        for person in re.split(r"^\s*- ", people, flags=re.MULTILINE)[1:]:
            said = dict(re.findall(r"^\s*:(\w+): *['\"]?(.*?)['\"]?\s*$", person, re.MULTILINE))
            learners.append(next(filter(None, map(said.get, ("email", "sid", "name"))), folder))
        at = re.search(r"^  :created_at: *(.+)$", rest, re.MULTILINE)
        found[folder, ""] = tuple(learners) or (folder,), stamp(at[1]) if at else None
    return found


def _given(pattern: str) -> re.Pattern[str]:
    again = "track cohort collect SUBMISSIONS --match " + pasted(r"(?P<learner>\w+)_day(?P<day>\d+)")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise TrackError(f"--match is no regular expression: {error}.", again) from None
    if "learner" not in expression.groupindex:
        raise TrackError("--match has no group named learner.", again)
    return expression


def stamp(text: str) -> datetime | None:
    """The time that `2026-04-26 17:34:00 Z`, `20260426T1734` or `2026-04-26-17-34-00` says, on this machine's
    clock where it names no zone; None where it says none.
    """
    digits = "".join(re.findall(r"\d+", text))[:14]
    if len(digits) < len("20260426"):
        return None
    try:
        found = datetime.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S")
        zoned = re.search(r"(Z|UTC|GMT)$", text.strip(), re.IGNORECASE)
        return found.replace(tzinfo=timezone.utc) if zoned else found.astimezone()
    except (ValueError, OverflowError, OSError):
        return None

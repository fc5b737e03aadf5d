"""The days of the course and its extras, found by number, folder name or topic. Imports nothing heavy:
`track status` stands on this.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from grader.errors import TrackError, UnknownDay

PACKAGE = Path(__file__).resolve().parents[1]
# A wheel carries the course inside the package, a clone has it next door.
ROOT = PACKAGE / "_content" if (PACKAGE / "_content").is_dir() else PACKAGE.parent

Key = int | str
A_WEEK = 7  # days
NEAR_THE_TOP = 5  # lines of a lesson, among which an extra says where it stands


@dataclass(frozen=True)
class Day:
    """One day, or an extra, which has no number. Number and slug come from the folder's name, the title from
    the lesson's first heading.
    """

    number: int | None
    slug: str

    @property
    def key(self) -> Key:
        """13, or `rope` for an extra: what the journal and JSON call it, and what is typed."""
        return self.slug if self.number is None else self.number

    @property
    def kind(self) -> str:
        """`day` or `extra`; `task` of one that is not the course's (custom_tasks.py)."""
        return "extra" if self.number is None else "day"

    @property
    def name(self) -> str:
        """`Day 13` or `Extra rope`, to begin a sentence with."""
        return f"{self.kind.capitalize()} {self.key}"

    @property
    def label(self) -> str:
        """`05` or `rope`, for tables."""
        return self.slug if self.number is None else f"{self.number:02d}"

    @property
    def heading(self) -> str:
        """`Day 13 · Fused softmax` or `Extra · Rotary position embedding`."""
        return f"{self.kind.capitalize() if self.number is None else self.name} · {self.title}"

    @property
    def stem(self) -> str:
        return self.slug if self.number is None else f"day{self.label}_{self.slug}"

    @property
    def place(self) -> str:
        """Where it lies in every tree of the course: `day13_fused_softmax` or `extras/rope`."""
        return f"extras/{self.slug}" if self.number is None else self.stem

    @property
    def anchor(self) -> int:
        """Its number; of an extra the day that it hangs on, as its lesson says: `*After day 15.*`, or 0."""
        if self.number is not None:
            return self.number
        with self.lesson.open(encoding="utf-8") as lines:
            named = re.search(r"^\*After day (\d+)\.\*$", "".join(islice(lines, NEAR_THE_TOP)), re.MULTILINE)
        return int(named[1]) if named else 0

    @property
    def week(self) -> int:
        return max(self.anchor - 1, 0) // A_WEEK + 1

    @property
    def folder(self) -> Path:
        return ROOT / "days" / self.place

    @property
    def lesson(self) -> Path:
        return self.folder / "README.md"

    @property
    def skeleton(self) -> Path:
        return self.folder / "kernel.py"

    @property
    def provided(self) -> Path:
        """The folder of finished helpers that a learner gets beside the skeleton; most days have none."""
        return self.folder / "provided"

    @property
    def handed_out(self) -> dict[str, Path]:
        """What `start` copies into the learner's folder, by its name there."""
        helpers = sorted(self.provided.glob("*.py"))
        given = self.lesson, *self.folder.glob("*.svg"), self.skeleton, *helpers
        return {path.name: path for path in given}

    @property
    def to_fill_in(self) -> bool:
        """Whether its file has TODOs; that of a bug hunt is whole."""
        return self.skeleton.is_file() and "TODO" in self.skeleton.read_text(encoding="utf-8")

    @property
    def begin(self) -> str:
        """What a first grading waits for, or is for, in words behind its command."""
        if self.to_fill_in:
            return "once the TODOs in kernel.py are filled in"
        return "as it is: that says what fails first"

    @property
    def hidden_tests(self) -> Path:
        return self.folder / "hidden_tests.py"

    @property
    def solution(self) -> Path:
        return ROOT / "solutions" / f"{self.place}.py"

    def required_solution(self) -> Path:
        """The solution, for what cannot do without.

        Raises:
            TrackError: a teacher handed the course out without it.
        """
        if not self.solution.is_file():
            problem = f"Our solution of {self.kind} {self.key} is not in this edition of the course."
            raise TrackError(problem, f"track hint {self.key}")
        return self.solution

    @property
    def fast_solution(self) -> Path:
        """The tuned solution, of a day whose plain one is easier to read."""
        return ROOT / "solutions" / "fast" / f"{self.place}.py"

    @property
    def hints(self) -> Path:
        return ROOT / "hints" / f"{self.place}.md"

    @property
    def title(self) -> str:
        """The lesson's first heading without its "Day 13 · " or "Extra · ", so "Fused softmax"."""
        if not self.lesson.is_file():
            return self.slug
        with self.lesson.open(encoding="utf-8") as lines:
            heading = next((line for line in lines if line.startswith("# ")), f"# {self.slug}")
        return re.sub(r"^# ((?:Day \d+|Extra)\s*[·:—-]\s*)?", "", heading).strip()


# What is typed before the number or the name, with nothing behind it.
NAMELESS = {
    "": ("An empty name is no day's.", "track list"),
    "day": ("Which day? Its number is missing.", "track start day 1"),
    "extra": ("Which extra? Its name is missing.", "track list --extras"),
}
WARM_UP = Day(0, "warm_up")  # what the tour plays; it counts for nothing


@cache
def days() -> tuple[Day, ...]:
    """Every day that is built, in order: a folder without a lesson is none yet."""
    found = (re.fullmatch(r"day(\d\d)_(\w+)", path.parent.name) for path in ROOT.glob("days/day*/README.md"))
    numbered = sorted((int(m[1]), m[2]) for m in found if m)
    return tuple(Day(number, slug) for number, slug in numbered if number != WARM_UP.number)


@cache
def extras() -> tuple[Day, ...]:
    """Every extra that is built, in the order of the days that they hang on."""
    found = [Day(None, path.parent.name) for path in ROOT.glob("days/extras/*/README.md")]
    return tuple(sorted(found, key=lambda extra: (extra.anchor, extra.slug)))


def course() -> tuple[Day, ...]:
    """All that can be graded: the days, then the extras."""
    return days() + extras()


@cache
def weeks() -> dict[int, str]:
    """The title of each week, as the syllabus has it: `## Week 1 · Foundations`."""
    syllabus = (ROOT / "days" / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## Week (\d+) · (.+)$", syllabus, re.MULTILINE)
    return {int(number): title.strip() for number, title in headings}


@cache
def packs() -> dict[str, tuple[Day, ...]]:
    """The extras by the pack that they stand in, as the syllabus has it: `### LLM training` over their rows;
    behind them, by "", those without a row.
    """
    syllabus = (ROOT / "days" / "README.md").read_text(encoding="utf-8")
    found: dict[str, tuple[Day, ...]] = {}
    for section in re.split(r"^### ", syllabus.partition("\n## Extras\n")[2], flags=re.MULTILINE)[1:]:
        title, _, rows = section.partition("\n")
        slugs = re.findall(r"\]\(extras/(\w+)/README\.md\)", rows)
        found[title.strip()] = tuple(one for one in extras() if one.slug in slugs)
    shelved = {one for members in found.values() for one in members}
    found[""] = tuple(one for one in extras() if one not in shelved)
    return {title: members for title, members in found.items() if members}


def later(day: Day | None) -> tuple[Day, ...]:
    """The days that follow this one, or the one that this extra hangs on; all of them for None."""
    return tuple(other for other in days() if day is None or other.anchor > day.anchor)


def find(text: str) -> Day:
    """The day meant by `13`, `day13`, `day 13`, `day13_fused_softmax` or `softmax`; or the extra, by `rope`.

    Raises:
        UnknownDay: nothing answers to it, or more than one does.
    """
    wanted = re.sub(r"[\s_-]+", "_", text.strip().lower())
    if wanted.strip("_") in NAMELESS:
        raise UnknownDay(*NAMELESS[wanted.strip("_")])
    number = re.fullmatch(r"(?:day_?)?0*(\d{1,9})(?:_(?!\d)\w*)?", wanted)
    if number:
        return _by_number(int(number[1]))
    slug = wanted.removeprefix("day_").removeprefix("extra_")
    exact = [day for day in course() if day.slug in (wanted, slug)]
    # A topic belongs to the days first: no extra takes a word away from them.
    found = exact[0] if exact else _by_topic(text, slug, days()) or _by_topic(text, slug, extras())
    if found:
        return found
    close = difflib.get_close_matches(slug, [day.slug for day in course()], n=1, cutoff=0.6)
    if close:
        near = next(day for day in course() if day.slug == close[0])
        raise UnknownDay(f'No day is called "{text}". Did you mean {near.slug}?', f"track start {near.key}")
    raise UnknownDay(f'No day is called "{text}".', "track list")


def _by_topic(text: str, slug: str, among: Sequence[Day]) -> Day | None:
    partial = [day for day in among if slug and slug in day.slug]
    # "softmax" is fused_softmax sooner than softmax_optimization, since what a day is about stands last, and
    # sooner than online_softmax, which comes later.
    headed = [day for day in partial if day.slug.endswith(f"_{slug}")]
    if headed or len(partial) == 1:
        return (headed or partial)[0]
    if partial:
        numbered = [f"{day.number} ({day.slug})" for day in partial if day.number is not None]
        options = f"days {', '.join(numbered)}" if numbered else " or ".join(day.slug for day in partial)
        raise UnknownDay(f'"{text}" could be any of {options}.', f"track start {partial[0].key}")
    return None


def _by_number(number: int) -> Day:
    for day in (WARM_UP, *days()):
        if day.number == number:
            return day
    last = max((day.anchor for day in days()), default=0)
    if 1 <= number <= last:
        raise UnknownDay(f"Day {number} is not in this edition of the course.", "track list")
    raise UnknownDay(f"There is no day {number}: the last one is day {last}.", "track list")

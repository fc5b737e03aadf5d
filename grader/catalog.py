"""The days of the course, found by number, folder name or topic. Imports nothing heavy: `track status`
stands on this.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.errors import UnknownDay

DAYS = 35
WEEKS = ("Foundations", "Basic operations", "Matrix operations", "Advanced kernels", "Flash attention")

_HERE = Path(__file__).resolve().parent
# A wheel carries the course inside the package, a clone has it next door.
ROOT = _HERE / "_content" if (_HERE / "_content").is_dir() else _HERE.parent


@dataclass(frozen=True, order=True)
class Day:
    """One day. Number, slug and week come from the folder's name; the title from the lesson's first
    heading.
    """

    number: int
    slug: str

    @property
    def stem(self) -> str:
        return f"day{self.number:02d}_{self.slug}"

    @property
    def week(self) -> int:
        return (self.number - 1) // 7 + 1

    @property
    def folder(self) -> Path:
        return ROOT / "days" / self.stem

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
        return {path.name: path for path in (self.lesson, self.skeleton, *helpers)}

    @property
    def hidden_tests(self) -> Path:
        return self.folder / "hidden_tests.py"

    @property
    def solution(self) -> Path:
        return ROOT / "solutions" / f"{self.stem}.py"

    @property
    def fast_solution(self) -> Path:
        """The tuned solution, of a day whose plain one is easier to read."""
        return ROOT / "solutions" / "fast" / f"{self.stem}.py"

    @property
    def hints(self) -> Path:
        return ROOT / "hints" / f"{self.stem}.md"

    @property
    def title(self) -> str:
        """The lesson's first heading without its "Day 13 · " prefix, so "Fused softmax"."""
        with self.lesson.open(encoding="utf-8") as lines:
            heading = next((line for line in lines if line.startswith("# ")), f"# {self.slug}")
        return re.sub(r"^# (Day \d+\s*[·:—-]\s*)?", "", heading).strip()


@cache
def days() -> tuple[Day, ...]:
    """Every day that is built, in order: a folder without a lesson is none yet."""
    found = (re.fullmatch(r"day(\d\d)_(\w+)", path.parent.name) for path in ROOT.glob("days/day*/README.md"))
    return tuple(sorted(Day(int(match[1]), match[2]) for match in found if match))


def find(text: str) -> Day:
    """The day meant by `13`, `day13`, `day 13`, `day13_fused_softmax` or `softmax`.

    Raises:
        UnknownDay: nothing answers to it, or more than one day does.
    """
    wanted = re.sub(r"[\s_-]+", "_", text.strip().lower())
    number = re.fullmatch(r"(?:day_?)?0*(\d{1,9})(?:_\w*)?", wanted)
    if number:
        return _by_number(int(number[1]))
    slug = wanted.removeprefix("day_")
    exact = [day for day in days() if day.slug == slug]
    if exact:
        return exact[0]
    partial = [day for day in days() if slug and slug in day.slug]
    # "softmax" is fused_softmax sooner than softmax_optimization, since what a day is about stands last, and
    # sooner than online_softmax, which comes later.
    headed = [day for day in partial if day.slug.endswith(f"_{slug}")]
    if headed or len(partial) == 1:
        return (headed or partial)[0]
    if partial:
        options = ", ".join(f"{day.number} ({day.slug})" for day in partial)
        raise UnknownDay(f'"{text}" could be any of days {options}.', f"track start {partial[0].number}")
    close = difflib.get_close_matches(slug, [day.slug for day in days()], n=1, cutoff=0.5)
    if close:
        near = next(day for day in days() if day.slug == close[0])
        raise UnknownDay(
            f'No day is called "{text}". Did you mean {near.slug}?', f"track start {near.number}"
        )
    raise UnknownDay(f'No day is called "{text}".', "track list")


def _by_number(number: int) -> Day:
    for day in days():
        if day.number == number:
            return day
    if 1 <= number <= DAYS:
        raise UnknownDay(f"Day {number} is not built yet.", "track list")
    raise UnknownDay(f"There is no day {number}: the course has days 1 to {DAYS}.", "track list")

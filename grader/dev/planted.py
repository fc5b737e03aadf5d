"""Files that the grader must judge in a known way: mistakes, laggards and honest alternatives of a day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import Day
from grader.errors import TrackError

TESTS = catalog.ROOT / "tests"


def swapped(day: Day, swap: Mapping[str, str]) -> str:
    """The day's solution with each key of `swap`, which stands in it exactly once, replaced by its value.

    Raises:
        TrackError: one stands there never, or several times.
    """
    source = day.solution.read_text(encoding="utf-8")
    for old, new in swap.items():
        if source.count(old) != 1:
            problem = (
                f"{old!r} stands {source.count(old)} times in solutions/{day.place}.py, and once is wanted"
            )
            raise TrackError(problem, "Swap more of the line, or less of it.")
        source = source.replace(old, new)
    return source


@dataclass(frozen=True)
class Mistake:
    """A learner's plausible edit of the solution.

    Args:
        name: what was done wrong, in words.
        swap: the edit.
        fails: the group of the first check that must not pass; a GPU has no `compiles`, and fails `correct`.
        says: what the diagnosis must contain.
        gpu: only shows on a GPU.
        wish: it fails, but the grader does not say this of it yet; once it does, the test says so.
    """

    name: str
    swap: Mapping[str, str]
    fails: str
    says: str
    gpu: bool = False
    wish: bool = False

    def source(self, day: Day) -> str:
        return swapped(day, self.swap)

    def group(self, on_gpu: bool) -> str:
        """The group that it fails there."""
        return "correct" if on_gpu and self.fails == "compiles" else self.fails


@dataclass(frozen=True)
class Laggard:
    """A correct kernel that is needlessly slow: an edit of the solution, or a file in
    tests/laggards/<place>/.

    Args:
        unseen: why counts and compiler cannot tell it from a fast one; empty where they can.
    """

    name: str
    swap: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    unseen: str = ""

    def source(self, day: Day) -> str:
        return (
            (TESTS / "laggards" / day.place / self.file).read_text() if self.file else swapped(day, self.swap)
        )


def mistakes(day: Day) -> list[Mistake]:
    return _named(day, "mistakes")


def laggards(day: Day) -> list[Laggard]:
    return _named(day, "laggards")


def honest(day: Day) -> Iterator[Path]:
    """Right solutions in another style than ours."""
    yield from sorted((TESTS / "honest" / day.place).glob("*.py"))


def _named(day: Day, tree: str) -> list[Any]:
    """The list `mistakes` or `laggards` of tests/<tree>/<place>.py."""
    path = TESTS / tree / f"{day.place}.py"
    scope: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    return list(scope[tree])

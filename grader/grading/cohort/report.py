"""What a database says of a cohort as a whole: SQL does the counting, so that its size does not matter."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass

from grader.course import catalog
from grader.grading.cohort.worker import shape

LISTED = 1000  # learners on a page
COMMON = 15  # mistakes on a page
ALIKE = 200  # groups of alike files on a page
OURS = "our solution"


@dataclass(frozen=True)
class OfDay:
    """One day: how many handed in, and what became of them. `waiting` have no verdict yet."""

    day: str
    handed_in: int
    passed: int
    slow: int
    unstarted: int
    waiting: int

    @property
    def stopped(self) -> int:
        """Those that were tried and did not pass."""
        return self.handed_in - self.passed - self.unstarted - self.waiting


@dataclass(frozen=True)
class Standing:
    """One learner: days passed of days handed in, and the sum of their scores."""

    id: str
    handed_in: int
    passed: int
    score: float


@dataclass(frozen=True)
class Mistake:
    """A diagnosis that several files got: how many learners, on which days, and in one file's words."""

    learners: int
    days: str
    diagnosis: str


@dataclass(frozen=True)
class Fastest:
    """The fastest pass of a day, in microseconds; `predicted` or `measured`."""

    day: str
    id: str
    yours_us: float
    evidence: str


@dataclass(frozen=True)
class Alike:
    """Learners whose code for a day is the same but for comments and layout."""

    day: str
    ids: tuple[str, ...]


def in_order(day: str) -> tuple[int, int, str]:
    """A key that sorts days as the course has them, extras behind the day that they hang on."""
    if day.isdecimal():
        return int(day), 0, ""
    extra = next((extra for extra in catalog.extras() if extra.slug == day), None)
    return (extra.anchor if extra else 999), 1, day


def by_day(db: sqlite3.Connection) -> list[OfDay]:
    """Every day that somebody handed in, in the order of the course."""
    counts = (f"total(status = '{status}')" for status in ("passed", "slow", "unstarted"))
    query = f"SELECT day, count(*), {', '.join(counts)}, total(status IS NULL) FROM result GROUP BY day"
    found = [OfDay(day, *map(int, numbers)) for day, *numbers in db.execute(query)]
    return sorted(found, key=lambda one: in_order(one.day))


def standings(db: sqlite3.Connection) -> list[Standing]:
    """The best learners: by days passed, then by score."""
    query = """SELECT id, count(*), CAST(total(status = 'passed') AS INTEGER) AS passed, total(score) AS score
        FROM result GROUP BY id ORDER BY passed DESC, score DESC, id LIMIT ?"""
    return [Standing(*row) for row in db.execute(query, (LISTED,))]


def grid(db: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """By learner and day the status, `waiting` where there is none yet; the first learners by name."""
    query = """SELECT id, day, coalesce(status, 'waiting') FROM result
        WHERE id IN (SELECT DISTINCT id FROM submission ORDER BY id LIMIT ?) ORDER BY id"""
    found: dict[str, dict[str, str]] = {}
    for id, day, status in db.execute(query, (LISTED,)):
        found.setdefault(id, {})[day] = status
    return found


def mistakes(db: sqlite3.Connection) -> list[Mistake]:
    """The commonest diagnoses; names and numbers of one file's own do not set them apart."""
    db.create_function("kind", 1, lambda text: re.sub(r"`[^`]*`|[\d.]+", "…", text), deterministic=True)
    query = """SELECT count(DISTINCT id) AS learners, group_concat(DISTINCT day), min(diagnosis)
        FROM result WHERE diagnosis <> '' AND status NOT IN ('passed', 'unstarted')
        GROUP BY kind(diagnosis) ORDER BY learners DESC, 3 LIMIT ?"""
    rows = db.execute(query, (COMMON,))
    return [Mistake(learners, _listed(days), words) for learners, days, words in rows]


def _listed(days: str) -> str:
    return ", ".join(sorted(days.split(","), key=in_order))


def fastest(db: sqlite3.Connection) -> list[Fastest]:
    """The fastest pass of each day; what was measured stands apart from what was predicted."""
    query = """SELECT day, id, min(yours_us), evidence FROM result
        WHERE status = 'passed' AND yours_us IS NOT NULL GROUP BY day, evidence"""
    return sorted((Fastest(*row) for row in db.execute(query)), key=lambda one: in_order(one.day))


def alike(db: sqlite3.Connection) -> list[Alike]:
    """Groups of learners with the same code on a day: a hint to look, and no verdict. Short days have few
    ways to be right, and our own solution is there for all to read: it is named where it is among them.
    """
    query = """SELECT day, shape, json_group_array(id) FROM result
        WHERE shape <> '' AND status <> 'unstarted' GROUP BY day, shape HAVING count(*) > 1 LIMIT ?"""
    found = []
    for day, digest, ids in db.execute(query, (ALIKE,)):
        ours = shape(catalog.find(day).solution.read_bytes()) == digest
        names = sorted(json.loads(ids))
        found.append(Alike(day, tuple(names) + (OURS,) * ours))
    return sorted(found, key=lambda one: (in_order(one.day), one.ids))

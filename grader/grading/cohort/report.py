"""What a database says of a cohort as a whole: SQL does the counting, so that its size does not matter."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import catalog

WORDS = {"passed": "passed", "failed": "wrong", "slow": "too slow", "crashed": "crashed"}
WORDS |= {"timeout": "did not end", "inconclusive": "too noisy to tell"}
WORDS |= {"unstarted": "untouched", "waiting": "not graded"}
NOTHING = "nothing graded"
LISTED = 1000  # learners on a page
COMMON = 15  # mistakes on a page
LEAST = 0.0005  # by which two scores differ
CHANGES = """SELECT id, day, max(before) AS before, max(after) AS after, max(score_before) AS score_before,
    max(score) AS score, count(DISTINCT sha256) > 1 AS other_file FROM (
        SELECT id, day, sha256, coalesce(status, 'waiting') AS before, NULL AS after, score AS score_before,
            NULL AS score FROM old.result
        UNION ALL SELECT id, day, sha256, NULL, coalesce(status, 'waiting'), NULL, score FROM main.result)
    GROUP BY id, day HAVING max(before) IS NOT max(after) OR abs(max(score) - max(score_before)) > ?
    ORDER BY id, in_order(day)"""


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
    """One learner: days passed of days handed in, and the sum of their scores. Who has as many of both shares
    a place.
    """

    place: int
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
    query = """SELECT rank() OVER (ORDER BY passed DESC, round(score, 3) DESC), * FROM (
        SELECT id, count(*), CAST(total(status = 'passed') AS INTEGER) AS passed, total(score) AS score
        FROM result GROUP BY id) ORDER BY 1, id LIMIT ?"""
    return [Standing(*row) for row in db.execute(query, (LISTED,))]


def grid(db: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """By learner and day the status, `waiting` where there is none yet; the first learners by name."""
    query = """SELECT id, day, coalesce(status, 'waiting') FROM result
        WHERE id IN (SELECT DISTINCT id FROM result ORDER BY id LIMIT ?) ORDER BY id"""
    found: dict[str, dict[str, str]] = {}
    for id, day, status in db.execute(query, (LISTED,)):
        found.setdefault(id, {})[day] = status
    return found


def mistakes(db: sqlite3.Connection) -> list[Mistake]:
    """The commonest diagnoses; names, numbers, lines and case of one file's own do not set them apart."""
    db.create_function("kind", 1, _kind, deterministic=True)
    query = """SELECT count(DISTINCT id) AS learners, group_concat(DISTINCT day), min(diagnosis)
        FROM result WHERE diagnosis <> '' AND status NOT IN ('passed', 'unstarted')
        GROUP BY kind(diagnosis) ORDER BY learners DESC, 3 LIMIT ?"""
    rows = db.execute(query, (COMMON,))
    return [
        Mistake(number, ", ".join(sorted(days.split(","), key=in_order)), words)
        for number, days, words in rows
    ]


def _kind(diagnosis: str) -> str:
    without = re.sub(r"\W*(\b(on|in|at|of) )?\blines? \d+( (and|to) \d+)?\b", "", diagnosis)
    own = re.sub(r"`[^`]*`|[\d.]+", "", without)
    return re.sub(r"\W+", " ", own).casefold().strip()


def changes(db: sqlite3.Connection, before: Path) -> list[dict[str, Any]]:
    """What has another status or score than in the database `before`, came or went, by learner and day."""
    db.execute("ATTACH ? AS old", (f"{before.resolve().as_uri()}?mode=ro",))
    found = db.execute(CHANGES, (LEAST,))
    return [dict(zip((name for name, *_ in found.description), row, strict=True)) for row in found]


def fastest(db: sqlite3.Connection) -> list[Fastest]:
    """The fastest pass of each day; what was measured stands apart from what was predicted."""
    query = """SELECT day, id, min(yours_us), evidence FROM result
        WHERE status = 'passed' AND yours_us IS NOT NULL GROUP BY day, evidence"""
    return sorted((Fastest(*row) for row in db.execute(query)), key=lambda one: in_order(one.day))

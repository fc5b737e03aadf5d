"""From verdicts to points, and to a table that Moodle or Canvas takes.

Moodle's import (grade/import/csv/classes/load_data.php in moodle/moodle) finds a learner by a column that the
teacher chooses: email address, ID number, user name or user id, never the name. A cell that is empty there
leaves the points to the row above, and one stranger ends the import. Any other column is mapped by hand to a
grade, to its feedback, or to nothing; an empty grade is none.

Canvas' import (lib/gradebook_importer.rb in instructure/canvas-lms) wants the columns Student, ID, SIS User
ID, SIS Login ID and Section in this order, finds a learner by ID, then by the SIS ids, then by name, and
takes each column behind them for an assignment, by `Name (id)` or by its name; an unknown one is a new one.
"""

from __future__ import annotations

import csv
import math
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.workspace import writing
from grader.errors import TrackError
from grader.grading.cohort import roster, store
from grader.grading.cohort.class_file import Class
from grader.grading.cohort.layouts import LATE
from grader.grading.cohort.report import NOTHING, WORDS, in_order
from grader.grading.cohort.roster import Learner

Form = Literal["moodle", "canvas"]
NOT_DUE = "not due yet"
FOUND_BY_MOODLE = ("email address", "email", "id number", "username", "user id", "id")
FOUND_BY_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


@dataclass(frozen=True)
class Grade:
    """What a learner has on a day: `points`, None where there are none yet, and in words why."""

    points: float | None
    said: str


@dataclass(frozen=True)
class Book:
    """A gradebook.

    Attributes:
        rows: everybody who is not withdrawn, by name, with a grade for each day.
        strangers: what was handed in by nobody on the roster, in words.
        without_due: days that somebody handed in, and that have no column because `[due]` lacks them.
        troubles: how many files the last run could not grade.
    """

    days: Sequence[Day]
    rows: Sequence[tuple[Learner, Sequence[Grade]]]
    strangers: Sequence[str]
    without_due: Sequence[Day]
    troubles: int


def gradebook(
    db: sqlite3.Connection, klass: Class, now: datetime, wanted: Collection[Day] | None = None
) -> Book:
    """The points of every learner of a class, handed in or not.

    Args:
        now: a day that is due later, and of which nothing was handed in, has no points yet.
        wanted: the days that have a column; None for those of `[due]`, or without one what was handed in.
    """
    query = "SELECT DISTINCT day FROM submission ORDER BY in_order(day)"
    handed = [catalog.find(day) for (day,) in db.execute(query)]
    days = sorted(wanted or klass.due or handed, key=lambda day: in_order(str(day.key)))
    known = {one.names: one for one in klass.learners or ()}
    attempts, strangers = defaultdict[tuple[frozenset[str], str], dict[str, Grade]](dict), dict[str, None]()
    first = "handed_in IS NULL, handed_in" if klass.best else "run, handed_in"
    query = f"SELECT id, day, sha256, status, score, evidence, handed_in, place FROM attempt ORDER BY {first}"
    for id, day, sha256, status, score, *facts in db.execute(query):
        try:
            learner = roster.find(id, klass.learners)
        except TrackError as stranger:
            strangers[stranger.problem] = None
            continue
        known.setdefault(learner.names, learner)
        grade, of_day = _grade(klass, catalog.find(day), status, score, facts), attempts[learner.names, day]
        before = of_day.get(sha256, grade) if klass.best else of_day.pop(sha256, grade)
        of_day[sha256] = max(before, grade, key=lambda one: one.points or 0)  # in time where it came twice
    rows = []
    for learner in sorted(known.values(), key=lambda one: one.name):
        tried = ((day, [*attempts[learner.names, str(day.key)].values()]) for day in days)
        grades = [_counting(klass, learner, day, ones, now) for day, ones in tried]
        rows += [] if learner.withdrawn else [(learner, grades)]
    without = [] if wanted else [day for day in handed if day not in days]
    return Book(days, rows, list(strangers), without, len(store.troubles(db)))


def _grade(klass: Class, day: Day, status: str | None, score: float, facts: Sequence[str | None]) -> Grade:
    """Of one attempt. What is not right has a score below 0.5, and a pass of known speed one from 0.8 on."""
    if status is None:
        return Grade(None, WORDS["waiting"])
    evidence, handed_in, place = facts
    of, due, said = klass.points, klass.due.get(day), WORDS[status]
    points = of["slow"] if status == "slow" else of["partial"] * min(1.0, 2 * score)
    if status in ("passed", "inconclusive"):
        points = of["passed"] + of["bonus"] * (max(0.0, score - 0.8) / 0.2 if evidence else 0.0)
    points *= klass.weight.get(day, 1)
    if due and handed_in is None and klass.late["per_day"]:
        said += ", late in Canvas" if LATE.search(place or "") else ", time unknown"
    elif due and handed_in:
        seconds = (datetime.fromisoformat(handed_in) - due).total_seconds() - 60 * klass.late["grace"]
        if (late := math.ceil(seconds / 86400)) > 0:
            lost = 100 if late > klass.late["until"] else min(100, klass.late["per_day"] * late)
            points *= 1 - lost / 100
            said += f", {late} day{'s' * (late > 1)} late: {lost:g} % less"
    return Grade(round(points, 2), said)


def _counting(klass: Class, learner: Learner, day: Day, attempts: list[Grade], now: datetime) -> Grade:
    """Of the attempts at a day, each another file, the one that counts: of equally good ones the earliest."""
    if given := klass.overrides.get((learner.names, day)):
        return Grade(given[0], f"override: {given[1]}")
    if not attempts:
        return Grade(None, NOT_DUE) if day in klass.due and now < klass.due[day] else Grade(0, NOTHING)
    one = max(attempts, key=lambda one: one.points or 0) if klass.best else attempts[-1]
    which = f", the {'best' if klass.best else 'last'} of {len(attempts)}" if len(attempts) > 1 else ""
    return Grade(one.points, one.said + which)


def write(book: Book, path: Path, form: Form | None) -> None:
    """Write it as CSV: for people a row for each learner with total and notes, or what an LMS imports.

    Raises:
        TrackError: it cannot be written, or Moodle could not tell whose a row is.
    """
    made = {None: _plain, "moodle": _moodle, "canvas": _canvas}[form](book)
    rows = [[f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in made]
    with writing(path, "track cohort gradebook FILE.csv"), path.open("w", newline="", encoding="utf-8") as to:
        csv.writer(to).writerows(rows)


def _plain(book: Book) -> Iterator[Sequence[object]]:
    yield ["learner", *(day.name for day in book.days), "total", "notes"]
    for learner, grades in book.rows:
        told = zip(book.days, grades, strict=True)
        plain = ("passed", NOTHING, NOT_DUE)  # what the points say as well
        notes = "; ".join(f"{day.kind} {day.key}: {one.said}" for day, one in told if one.said not in plain)
        points = [one.points for one in grades]
        yield [learner.name, *points, round(sum(filter(None, points)), 2), notes]


def _moodle(book: Book) -> Iterator[Sequence[object]]:
    learners = [learner for learner, _ in book.rows]
    full = (key for key in FOUND_BY_MOODLE if all(one.cells.get(key) for one in learners))
    if (key := next(full, None)) is None:
        lacking = [one.name for one in learners if not any(map(one.cells.get, FOUND_BY_MOODLE))]
        told, fix = f"the roster has no email address of {'; '.join(lacking[:3]) or 'some'}", ""
        if not any(one.cells for one in learners):
            told, fix = "the class file names no roster", 'Write roster = "roster.csv" into it. '
        fix = f"{fix}The roster needs a column `email address`."
        raise TrackError(f"Moodle finds nobody by name, and {told}.", fix)
    days = [day.name for day in book.days]
    yield [key.capitalize(), "Name", *days, *(f"{day} feedback" for day in days)]
    for learner, grades in book.rows:
        row = *(one.points for one in grades), *(one.said for one in grades)
        yield [learner.cells[key], learner.name, *row]


def _canvas(book: Book) -> Iterator[Sequence[object]]:
    yield [*FOUND_BY_CANVAS, *(day.name for day in book.days)]
    for learner, grades in book.rows:
        cells = {"student": learner.name} | {name: text for name, text in learner.cells.items() if text}
        cells["id"] = cells["id"] if cells.get("id", "").isdecimal() else ""  # a Canvas id is a number
        yield [*(cells.get(name.casefold(), "") for name in FOUND_BY_CANVAS), *(one.points for one in grades)]

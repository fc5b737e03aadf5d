"""The teacher's file of a class, in TOML: roster, due dates, points, a late rule, overrides.

`examples/class.toml` has every key. What is wrong in a file is told all at once, a line for each key.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.setup.doctor import PIP
from grader.errors import CannotGrade, TrackError, pasted
from grader.grading.cohort import roster
from grader.grading.cohort.roster import Learner
from grader.grading.cohort.submission import chosen

EXAMPLE = catalog.ROOT / "examples" / "class.toml"
HELP = f"See {EXAMPLE}: it has every key."
POINTS = {"passed": 10.0, "slow": 7.0, "partial": 5.0, "bonus": 0.0}
LATE = {"grace": 0.0, "per_day": 0.0, "until": math.inf}

# What a value may be.
KINDS: dict[str, Callable[[Any], bool]] = {
    "a number from 0 on": lambda value: type(value) in (int, float) and 0 <= value < math.inf,
    "a text": lambda value: isinstance(value, str) and value.strip() != "",
    "a number or a name": lambda value: type(value) in (int, str),
    "a date, such as 2026-10-09 or 2026-10-09T18:00:00": lambda value: isinstance(value, date),
    '"best" or "last"': lambda value: value in ("best", "last"),
    "a table": lambda value: isinstance(value, dict),
    "a list of tables": lambda value: isinstance(value, list) and all(isinstance(v, dict) for v in value),
}
NUMBER, TEXT, DAY, DATE, ATTEMPT, TABLE, TABLES = KINDS
TOP = {"title": TEXT, "roster": TEXT, "attempt": ATTEMPT}
TOP |= {"points": TABLE, "weight": TABLE, "due": TABLE, "late": TABLE, "override": TABLES}
OVERRIDE = {"learner": TEXT, "day": DAY, "points": NUMBER, "note": TEXT}


@dataclass(frozen=True)
class Class:
    """A class.

    Attributes:
        best: the attempt with the most points counts, else the last one.
        learners: those on the roster; None without one.
        points: by the keys of POINTS.
        weight: by which the points of a day are multiplied, where that is not 1.
        due: until when a day can be handed in without loss. Its days are those of the gradebook.
        late: by the keys of LATE.
        overrides: points and a note, by a learner's names and a day.
    """

    title: str = ""
    best: bool = False
    learners: Sequence[Learner] | None = None
    points: Mapping[str, float] = field(default_factory=lambda: POINTS)
    weight: Mapping[Day, float] = field(default_factory=dict)
    due: Mapping[Day, datetime] = field(default_factory=dict)
    late: Mapping[str, float] = field(default_factory=lambda: LATE)
    overrides: Mapping[tuple[frozenset[str], Day], tuple[float, str]] = field(default_factory=dict)


def read(path: Path) -> Class:
    """The class that a file describes.

    Raises:
        TrackError: it cannot be read, or something in it is wrong.
        CannotGrade: Python 3.10 without tomli.
    """
    told: list[str] = []
    top = _table("The file", _parsed(path), TOP, told)
    points = POINTS | _table("[points]", top.get("points", {}), dict.fromkeys(POINTS, NUMBER), told)
    weight = _by_day("weight", top.get("weight", {}), NUMBER, told)
    learners = None
    try:
        learners = roster.read(path.parent / top["roster"]) if "roster" in top else None
    except TrackError as error:
        told.append(error.problem)
    due = {day: _end(value) for day, value in _by_day("due", top.get("due", {}), DATE, told).items()}
    late = LATE | _table("[late]", top.get("late", {}), dict.fromkeys(LATE, NUMBER), told)
    overrides = _overrides(top.get("override", []), learners, told)
    if told:
        problem = f"{path} has {len(told)} mistake{'s' * (len(told) > 1)}:"
        raise TrackError("\n  ".join([problem, *told]), HELP)
    best = top.get("attempt") == "best"
    return Class(top.get("title", ""), best, learners, points, weight, due, late, overrides)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ModuleNotFoundError:
        raise CannotGrade("Python 3.10 reads TOML with tomli, which is not here.", f"{PIP} tomli") from None
    try:
        content: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise TrackError(f"There is no {path}.", f"cp {pasted(EXAMPLE)} {pasted(path)}") from None
    except (OSError, ValueError) as error:  # ValueError: no TOML, or no UTF-8
        raise TrackError(f"{path} cannot be read: {error}.", HELP) from None
    return content


def _table(where: str, given: dict[str, Any], kinds: Mapping[str, str], told: list[str]) -> dict[str, Any]:
    """Its keys that are as they should be; `told` gets a line on each other one."""
    for key in sorted(given.keys() - kinds.keys()):
        near = difflib.get_close_matches(key, kinds, n=1)
        meant = f'Did you mean "{near[0]}"?' if near else f"It may have: {', '.join(kinds)}."
        told.append(f'{where} has no key "{key}". {meant}')
    wrong = {key for key, kind in kinds.items() if key in given and not KINDS[kind](given[key])}
    told += [f"{where}: {key} must be {kinds[key]}." for key in sorted(wrong)]
    return {key: value for key, value in given.items() if key in kinds and key not in wrong}


def _by_day(name: str, given: dict[str, Any], kind: str, told: list[str]) -> dict[Day, Any]:
    """A table whose keys are days, such as `13`, `"1-7"` or `rope`; of two on one day the later counts."""
    found: dict[Day, Any] = {}
    for key, value in given.items():
        try:
            days = chosen(key)
        except TrackError as error:
            told.append(f'[{name}] "{key}": {error.problem}')
            continue
        if KINDS[kind](value):
            found |= dict.fromkeys(days, value)
        else:
            told.append(f'[{name}] "{key}" must be {kind}.')
    return found


def _overrides(
    given: list[dict[str, Any]], learners: Sequence[Learner] | None, told: list[str]
) -> dict[tuple[frozenset[str], Day], tuple[float, str]]:
    found = {}
    for number, table in enumerate(given, 1):
        where = f"[[override]] number {number}"
        one = _table(where, table, OVERRIDE, told)
        told += [f"{where} lacks {key}." for key in OVERRIDE if key not in table]
        try:
            if len(one) == len(OVERRIDE):
                key = roster.find(one["learner"], learners).names, catalog.find(str(one["day"]))
                found[key] = float(one["points"]), one["note"]
        except TrackError as error:
            told.append(f"{where}: {error.problem}")
    return found


def _end(value: date) -> datetime:
    """A moment, by this machine's clock where the file names no zone; of a date alone its end."""
    moment = value if isinstance(value, datetime) else datetime.combine(value, time(23, 59, 59))
    return moment.astimezone()

"""What the journal tells beyond today's standing: the best speed of a day, and its gradings over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from grader.course.catalog import Key
from grader.course.learner.journal import Record


@dataclass(frozen=True)
class Daily:
    """The gradings of one calendar day, here where the learner is."""

    day: date
    passed: int
    others: int


def best_speeds(records: Iterable[Record]) -> dict[Key, Record]:
    """Of each day the best speed of a grading that passed, as its verdict has it, and its `device`; what was
    measured before what is predicted.
    """
    best: dict[Key, Record] = {}
    for record in records:
        passed = record["event"] == "graded" and record.get("status") == "passed" and _whole(record)
        if passed and _sound(record.get("speed")):
            speed = {**record["speed"], "device": record.get("device", "")}
            kept = best.get(record["day"])
            if kept is None or _rank(speed) > _rank(kept):
                best[record["day"]] = speed
    return best


def daily(records: Iterable[Record]) -> list[Daily]:
    """Whole gradings by calendar day, the first one first; days without any are left out."""
    found: dict[date, list[bool]] = {}
    for record in records:
        at = _date(record.get("at"))
        graded = record["event"] == "graded" and record.get("status") != "unstarted"
        if graded and _whole(record) and at:
            found.setdefault(at, []).append(record.get("status") == "passed")
    return [Daily(at, sum(found[at]), len(found[at]) - sum(found[at])) for at in sorted(found)]


def _whole(record: Record) -> bool:
    """Whether all of the day was graded."""
    return record.get("only") is None


def _sound(speed: object) -> bool:
    """Whether it has what is shown of it: a journal can be edited by hand."""
    if not isinstance(speed, dict):
        return False
    return all(
        isinstance(speed.get(name), int | float) for name in ("ratio", "yours_us", "needed_us", "copy_us")
    )


def _rank(speed: Record) -> tuple[bool, float]:
    return speed.get("evidence") == "measured", float(speed["ratio"])


def _date(at: object) -> date | None:
    try:
        return datetime.fromisoformat(str(at)).astimezone().date()
    except ValueError:
        return None

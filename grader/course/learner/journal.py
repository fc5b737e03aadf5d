"""The learner's journal: one JSON line for each thing that happened. Progress is a fold over it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from grader.course.catalog import Key
from grader.errors import TrackError, pasted
from grader.verdict import Verdict

SCHEMA = 1

Event = Literal["started", "graded", "hint", "solution", "reset", "restored"]
State = Literal["new", "started", "not yet", "done on CPU", "done on GPU"]
Record = dict[str, Any]


@dataclass(frozen=True)
class Journal:
    """What could be read of a journal.

    Attributes:
        records: in the order in which they were written.
        skipped: lines that are no record: torn by a crash, edited by hand, written by a newer course.
    """

    records: tuple[Record, ...] = ()
    skipped: int = 0


@dataclass(frozen=True)
class Progress:
    """One day, as the journal tells it.

    Attributes:
        gradings: how often there was something to grade.
        on_cpu, on_gpu: whether a whole grading passed there.
        hints: tiers opened since the last reset, 0 to 3.
        solution: whether the solution was opened before a pass.
        last: status of the last whole grading; empty since a start or a reset.
        failed: the check that stopped the last grading.
        speed: the last speed, as in the verdict; what was measured outlasts what is predicted.
        limits: how many the last pass was told of.
        at: when something last happened, ISO 8601 in UTC.
    """

    started: bool = False
    gradings: int = 0
    on_cpu: bool = False
    on_gpu: bool = False
    hints: int = 0
    solution: bool = False
    last: str = ""
    failed: str = ""
    speed: Record | None = None
    limits: int = 0
    at: str = ""

    @property
    def done(self) -> bool:
        return self.on_cpu or self.on_gpu

    @property
    def measured(self) -> bool:
        """Whether its speed is one that a GPU was seen to reach."""
        return self.speed is not None and self.speed.get("evidence") == "measured"

    @property
    def state(self) -> State:
        if self.on_gpu:
            return "done on GPU"
        if self.on_cpu:
            return "done on CPU"
        if self.last not in ("", "unstarted"):
            return "not yet"
        return "started" if self.started else "new"


def append(path: Path, event: Event, day: Key, **facts: Any) -> None:
    """Writes one record with one `write`, so that any number of processes can append at once.

    Raises:
        OSError: the journal cannot be written, or the disk had room for only a part of the record.
    """
    record = {
        "schema": SCHEMA,
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "event": event,
        "day": day,
    }
    line = json.dumps(record | facts).encode() + b"\n"
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if _torn(file):
            line = b"\n" + line
        written = os.write(file, line)
        if written < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(file)


def _torn(file: int) -> bool:
    """Whether the last line lacks its newline: a write that a crash or a full disk cut short."""
    end = os.fstat(file).st_size
    return end > 0 and os.pread(file, 1, end - 1) != b"\n"


def read(path: Path) -> Journal:
    """Every record of the journal; a journal that does not exist is empty.

    Raises:
        TrackError: it exists and cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Journal()
    except OSError as error:
        raise TrackError(
            f"The journal cannot be read: {error.strerror}: {path}", f"ls -l {pasted(path.parent)}"
        ) from None
    found = [_record(line) for line in lines if line.strip()]
    records = tuple(record for record in found if record is not None)
    return Journal(records, len(found) - len(records))


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = (
        isinstance(record, dict) and record.get("schema") == SCHEMA and isinstance(record.get("event"), str)
    )
    return record if known and _is_key(record.get("day")) else None


def _is_key(day: Any) -> bool:
    """A day's number, or an extra's slug."""
    return type(day) is int or (isinstance(day, str) and day.isidentifier())


def summary(verdict: Verdict, only: str | None = None) -> Record:
    """What the journal keeps of a verdict. `only` names the case graded alone; that is never a pass."""
    failed = verdict.failed.name if verdict.failed else ""
    speed = verdict.to_json()["speed"]
    facts = {"status": verdict.status, "device": verdict.device, "on_gpu": verdict.on_gpu, "failed": failed}
    facts |= {
        "sha256": verdict.sha256,
        "seed": verdict.seed,
        "seconds": round(verdict.seconds, 3),
        "speed": speed,
    }
    facts |= {"limits": verdict.to_json()["limits"]} if verdict.limits else {}
    facts |= {"untold": verdict.diagnosis} if verdict.for_the_hint else {}
    facts |= {"edit": verdict.edit} if verdict.edit else {}
    return facts | ({"only": only} if only else {})


def fold(records: Iterable[Record]) -> dict[Key, Progress]:
    """Progress by number, or by slug for an extra. What passed stays passed, whatever is reset later."""
    days: dict[Key, Progress] = {}
    for record in records:
        before = replace(days.get(record["day"], Progress()), at=str(record.get("at", "")))
        days[record["day"]] = _after(before, record)
    return days


def _after(day: Progress, record: Record) -> Progress:
    event = record["event"]
    if event in ("started", "restored"):
        return replace(day, started=True)
    if event == "reset":
        return replace(day, started=True, hints=0, last="", failed="")
    if event == "hint":
        tier = record.get("tier")
        return replace(day, hints=max(day.hints, tier if isinstance(tier, int) else 0))
    if event == "solution":
        return replace(day, solution=True)
    if event == "graded" and record.get("only") is None:
        return _graded(day, record)
    return day


def _graded(day: Progress, record: Record) -> Progress:
    passed, on_gpu = record.get("status") == "passed", record.get("on_gpu") is True
    speed, limits = record.get("speed"), record.get("limits")
    if not isinstance(speed, dict) or (day.measured and speed.get("evidence") != "measured"):
        speed = day.speed
    return replace(
        day,
        started=True,
        gradings=day.gradings + (record.get("status") != "unstarted"),
        on_cpu=day.on_cpu or (passed and not on_gpu),
        on_gpu=day.on_gpu or (passed and on_gpu),
        last=str(record.get("status", "")),
        failed=str(record.get("failed", "")),
        speed=speed,
        limits=len(limits) if passed and isinstance(limits, list) else 0 if passed else day.limits,
    )


def untold(records: Sequence[Record], day: Key, *, last_hint: bool) -> str:
    """What the screen of a day's last grading left to the hint: in a bug hunt the diagnosis, else, with the
    last hint, an edit that makes the file right. Empty where there was neither.
    """
    own = (r for r in reversed(records) if r["day"] == day and r["event"] in ("graded", "reset"))
    last = next(own, {})
    return str(last.get("untold") or (last.get("edit", "") if last_hint else ""))


def current(records: Sequence[Record]) -> Key | None:
    """The day started last, by number or slug; None before the first. A look at another moves nothing."""
    begun = (record["day"] for record in reversed(records) if record["event"] == "started")
    return next(begun, records[-1]["day"] if records else None)

"""The screens of `track cohort`."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.cli.screens.terminal import Terminal, counted, near, typed
from grader.course import catalog
from grader.errors import pasted
from grader.grading.cohort import report
from grader.grading.cohort.gradebook import Book
from grader.grading.cohort.grading_queue import Tally
from grader.grading.cohort.report import NOTHING, WORDS
from grader.grading.cohort.store import Result, troubles

EVERY = 30.0  # seconds between two lines where nobody watches
TROUBLES = 20  # lines of those on the screen


class Progress:
    """How a run stands, in one line that is redrawn; into a pipe one line every half minute."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._said = terminal, time.monotonic()
        self._status = terminal.console.status("")

    def __enter__(self) -> Progress:
        if self._terminal.live:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        if now - self._said < (0.2 if self._terminal.live else EVERY):
            return
        self._said = now
        if self._terminal.live:
            self._status.update(self._terminal.text(standing(tally)))
        else:
            self._terminal.line(standing(tally), indent=2)


def standing(tally: Tally) -> str:
    """`1,204 graded now, 3.2 a second on 8 slots · 812 passed, 392 failed · 41 % read, about 12 min left`."""
    graded = tally.graded.total()
    speed = graded / max(tally.seconds, 1e-9)
    parts = [f"{graded:,} graded now, {speed:.1f} a second on {counted(tally.slots, 'slot')}"]
    if graded:
        parts.append(", ".join(f"{number:,} {status}" for status, number in tally.graded.most_common()))
    if tally.known:
        parts.append(f"{tally.known:,} had a verdict")
    if tally.troubles:
        parts.append(f"{tally.troubles:,} not gradable")
    if tally.share and tally.share < 1:
        left = tally.seconds * (1 - tally.share) / tally.share
        parts.append(f"{tally.share:.0%} read, about {_spoken(left)} left")
    return " · ".join(parts)


def _spoken(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def graded(terminal: Terminal, tally: Tally, db: sqlite3.Connection, path: Path) -> None:
    """What came of a run."""
    if not (tally.graded or tally.known or tally.troubles):
        terminal.line("Nothing was found that can be graded.")
        return terminal.next("track cohort grade --help", "says what can be graded")
    terminal.line(("Done: ", "bold"), standing(tally), f", {_spoken(tally.seconds)}")
    if tally.lacking:
        terminal.line("Confined. Not on every machine: ", ", ".join(sorted(tally.lacking)), indent=2)
    _troubles(terminal, db)
    if tally.others:
        lists = typed("track cohort collect SUBMISSIONS")
        terminal.line(f"Files that are no work: {tally.others:,}. `{lists}` says why.")
    if not (tally.graded or tally.known):
        return terminal.next("track cohort grade --help", "says what can be graded")
    terminal.next(f"track cohort pages report{of(path)}", "writes the class page, leaderboard and feedback")


def status(terminal: Terminal, db: sqlite3.Connection, path: Path) -> None:
    """How many of what was handed in have a verdict, by day."""
    days = report.by_day(db)
    heads = ("day", "handed in", "passed", "not passed", "of these too slow", "untouched", "not graded")
    rows: list[Sequence[str]] = [heads]
    for one in days:
        counts = (one.handed_in, one.passed, one.stopped, one.slow, one.unstarted, one.waiting)
        rows.append((catalog.find(one.day).heading, *(f"{count:,}" for count in counts)))
    terminal.table(rows)
    _troubles(terminal, db)
    waiting = sum(one.waiting for one in days)
    if waiting:
        again = f"grades the {waiting:,} that {'is' if waiting == 1 else 'are'} missing"
        return terminal.next(f"track cohort grade SUBMISSIONS{of(path)}", again)
    terminal.next(f"track cohort pages report{of(path)}", "writes the class page, leaderboard and feedback")


def gradebook(terminal: Terminal, book: Book, path: Path, form: str | None, options: str, db: Path) -> None:
    """What a gradebook holds, and what it could not place; `options` are those that were typed."""
    grades = [one for _, grades in book.rows for one in grades]
    terminal.line(f"{near(path)}: {counted(len(book.rows), 'learner')}, {counted(len(book.days), 'day')}")
    missing, without = (sum(one.said == NOTHING for one in grades), sum(one.points is None for one in grades))
    terminal.line(f"0 points, because nothing was graded: {counted(missing, 'cell')}", indent=2)
    terminal.line(f"Empty, because not due or not graded yet: {counted(without, 'cell')}", indent=2)
    if book.troubles:
        lists = typed(f"track cohort status{of(db)}")
        terminal.line(f"Not gradable, in the last run: {book.troubles:,}. `{lists}` lists them.")
    if book.without_due:
        days = ", ".join(str(day.key) for day in book.without_due)
        terminal.line(("Handed in, and not in [due]: ", "bold"), f"{days}. They have no column.")
    if book.strangers:
        terminal.line((f"Handed in, and in no row: {len(book.strangers):,}", "bold"))
        terminal.table([(one,) for one in book.strangers[:TROUBLES]])
        terminal.next(f"track cohort gradebook {pasted(path)}{options}", "once the roster names them")
    elif not form:
        again = f"track cohort gradebook FILE.csv --for moodle{options}"
        terminal.next(again, "or canvas: writes what it imports")


def could_be(terminal: Terminal, found: Sequence[Result], path: Path) -> None:
    """What was handed in by those whom a part of a name can mean."""
    rows = [(one.id, catalog.find(one.day).heading, WORDS[one.status or "waiting"]) for one in found]
    terminal.table(rows[:TROUBLES])
    if len(rows) > TROUBLES:
        terminal.line(f"and {len(rows) - TROUBLES:,} more", indent=2)
    terminal.next(f"track cohort show {pasted(found[0].id)} {found[0].day}{of(path)}", "shows the first")


def changed(terminal: Terminal, found: Sequence[dict[str, Any]], path: Path) -> None:
    """What differs between two databases."""
    kinds = [" → ".join(WORDS.get(one[side], NOTHING) for side in ("before", "after")) for one in found]
    ways = ", ".join(f"{number:,} {kind}" for kind, number in Counter(kinds).most_common())
    terminal.line((f"Verdicts that differ: {len(found):,}", "bold"), " · " * bool(found), ways)
    rows = []
    for one, kind in zip(found[:TROUBLES], kinds, strict=False):
        scores = f"{one['score_before'] or 0:.3f} → {one['score'] or 0:.3f}"
        other = "another file" if one["other_file"] else ""
        rows.append((one["id"], catalog.find(one["day"]).heading, kind, scores, other))
    terminal.table(rows)
    if len(found) > TROUBLES:
        terminal.line(f"and {len(found) - TROUBLES:,} more: --json has them", indent=2)
    terminal.next(f"track cohort status{of(path)}", "")


def _troubles(terminal: Terminal, db: sqlite3.Connection) -> None:
    found = troubles(db)
    if found:
        terminal.line()
        terminal.line((f"Not gradable, in the last run: {len(found):,}", "bold"))
        terminal.table([(one.where, one.problem) for one in found[:TROUBLES]])
    if len(found) > TROUBLES:
        have = "the class page and the table `trouble` have them"
        terminal.line(f"and {len(found) - TROUBLES:,} more: {have}", indent=2)


def of(path: Path) -> str:
    """The option that names a database, unless it is the usual one."""
    return "" if path == Path("cohort.db") else f" --db {pasted(near(path))}"

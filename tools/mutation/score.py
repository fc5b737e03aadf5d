"""The mutation score: `track dev mutants [--only OPERATOR] [--every N] [--jobs N] [--json FILE] [DAY …]`.

A row a day: how many mutants of its right files were graded, values alone, how many failed, how many of
those that live are listed in tests/equivalents.jsonl as right, or as wrong on a GPU alone, how many are not,
and what share of those that are wrong here failed. What lives is shown below, and what is listed and not so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.course.catalog import Day
from tools import planted
from tools.mutation.generate import Mutant, files, mutants
from tools.mutation.kill import Tried, try_all
from tools.mutation.operators import OPERATORS

WANTED = 0.95  # of the mutants that are wrong, over all days


@dataclass
class Row:
    """What became of one day's mutants.

    Attributes:
        known: listed ones that live, with their entries.
        alive: those that live and are not listed.
        untrue: what is listed and not so.
    """

    day: Day
    tried: list[Tried] = field(default_factory=list)
    known: list[tuple[Mutant, planted.Equivalent]] = field(default_factory=list)
    alive: list[Mutant] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)

    @property
    def killed(self) -> int:
        return sum(bool(each.killed_by) for each in self.tried)

    @property
    def wrong(self) -> int:
        """How many of them ought to fail."""
        return len(self.tried) - len(self.known)


def chosen(day: Day, only: Sequence[str] = (), every: int = 1, names: Sequence[str] = ()) -> list[Mutant]:
    """The day's mutants by these operators, of these files, or all; of these every so-manyth."""
    wanted = {file: path.read_text("utf-8") for file, path in files(day).items() if file in (names or [file])}
    found = (each for file, source in wanted.items() for each in mutants(day, file, source))
    return [each for each in found if each.operator in (only or OPERATORS)][::every]


def judged(day: Day, tried: list[Tried]) -> Row:
    """The day's row: what was tried, held against what is listed."""
    row = Row(day, tried)
    listed = {entry.key: entry for entry in planted.equivalents(day)}
    alive = [each.mutant for each in tried if not each.killed_by]
    row.known = [(mutant, listed[mutant.key]) for mutant in alive if mutant.key in listed]
    row.alive = [mutant for mutant in alive if mutant.key not in listed]
    living = {mutant.key for mutant in alive}
    killed = {each.mutant.key: each for each in tried if each.mutant.key not in living}
    row.untrue = [
        f"{killed[key].mutant.name} is listed, and fails {killed[key].killed_by}: {key[2]}"
        for key in listed
        if key in killed
    ]
    made = {mutant.key for mutant in chosen(day)}
    row.untrue += [f"no edit makes this of {key[0]}: {key[2]}" for key in listed if key not in made]
    return row


def lines(row: Row) -> Iterator[str]:
    """The row of the table, then what lives and what is listed wrongly."""
    gpu = sum(entry.gpu for _, entry in row.known)
    cells = [row.day.label, len(row.tried), row.killed, len(row.known) - gpu, gpu, len(row.alive)]
    cells.append(_score([row]))
    yield "| " + " | ".join(map(str, cells)) + " |"
    for mutant in row.alive:
        yield from (f"    {mutant.name}", f"        - {mutant.line}", f"        + {mutant.becomes}")
    yield from (f"    {each}" for each in row.untrue)


def _score(rows: Sequence[Row]) -> str:
    killed, wrong = sum(row.killed for row in rows), sum(row.wrong for row in rows)
    return f"{killed / wrong:.1%}" if wrong else "–"


def record(rows: Sequence[Row]) -> list[dict[str, str]]:
    """What `--json` writes: an entry a mutant."""
    entries = []
    for row in rows:
        why = {mutant.name + mutant.becomes: entry.why for mutant, entry in row.known}
        for tried in row.tried:
            mutant = tried.mutant
            told = {"name": mutant.name, "line": mutant.line, "becomes": mutant.becomes}
            told |= {"killed_by": tried.killed_by, "why": why.get(mutant.name + mutant.becomes, "")}
            entries.append(told)
    return entries


def _tried(day: Day, asked: argparse.Namespace) -> list[Tried]:
    tried = []
    planned = chosen(day, asked.only or (), asked.every, asked.file or ())
    for each in try_all(planned, asked.jobs, asked.seed):
        tried.append(each)
        if sys.stderr.isatty():
            print(f"\r{day.label}: {len(tried)} of {len(planned)}  ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    return tried


HEAD = ("day", "mutants", "killed", "equivalent", "on a GPU alone", "alive", "score")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "track dev mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whole: dict[str, Any] = {"type": int, "metavar": "N"}
    parser.add_argument("days", nargs="*")
    parser.add_argument(
        "--only", action="append", choices=OPERATORS, metavar="OPERATOR", help=", ".join(OPERATORS)
    )
    parser.add_argument("--file", action="append", metavar="NAME", help="solution, fast, or a right file's")
    parser.add_argument("--every", **whole, default=1, help="a sample: every Nth of them")
    parser.add_argument("--jobs", **whole, default=os.cpu_count() or 1, help="so many at once; every core")
    parser.add_argument("--seed", **whole, default=1, help="of all that is drawn; 1 unless told")
    parser.add_argument("--json", type=Path, help="keep what became of each in this file")
    return parser.parse_args()


def main() -> None:
    asked = _asked()
    rows = []
    print("| " + " | ".join(HEAD) + " |")
    for day in [catalog.find(text) for text in asked.days] or catalog.course():
        rows.append(judged(day, _tried(day, asked)))
        print("\n".join(lines(rows[-1])), flush=True)
        if asked.json:
            asked.json.write_text(json.dumps(record(rows)), "utf-8")
    killed, wrong = sum(row.killed for row in rows), sum(row.wrong for row in rows)
    print(f"In all {killed} of {wrong} wrong mutants fail, {_score(rows)}; {WANTED:.0%} are wanted.")
    sys.exit(1 if killed < WANTED * wrong or any(row.untrue for row in rows) else 0)


if __name__ == "__main__":
    main()

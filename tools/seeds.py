"""Right kernels with many seeds: `track dev seeds [--seeds N] [-k ID] [--file FILE] [--gpu] [DAY …]`.

A row a file, of a day's solution, fast solution and right alternatives: how many cases were tried, how many
failed, how many passed only since they are known to be ill-conditioned, and how many came near: with errors a
quarter larger they would have failed. Nothing may fail with any seed; what comes near deserves more of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import CannotGrade, pasted
from grader.grading.grade import CALL_TIMEOUT, read
from grader.grading.warm_client import Warm
from grader.request import Request
from tools import planted

AT_ONCE = 50  # seeds that one judge tries, so that imports and forks are paid once for all of them
PATIENCE = 3600.0  # seconds for these
TOLD = 5  # failures of a file that are told in full


@dataclass
class Row:
    """What one file got.

    Attributes:
        tried: cases, each seed counted.
        failed, leaned, near: what there is to tell of a case that failed, passed only by its conditioning, or
            came near a gate.
    """

    day: Day
    path: Path
    tried: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    leaned: list[dict[str, Any]] = field(default_factory=list)
    near: list[dict[str, Any]] = field(default_factory=list)


def scan(row: Row, warm: Warm, seeds: range, only: str | None = None) -> None:
    """Try a file's cases with these seeds.

    Raises:
        CannotGrade: the judge gives no answer.
    """
    day, path = row.day, row.path.resolve()
    files = day.hidden_tests, path, day.provided
    timeout = CALL_TIMEOUT[warm.device]
    for first in seeds[::AT_ONCE]:
        request = Request(
            "seeds",
            *files,
            read(path),
            warm.device,
            first,
            timeout,
            only=only,
            speed=False,
            seeds=min(AT_ONCE, seeds.stop - first),
        )
        answer, _ = warm.judge(request).receive(PATIENCE)
        if answer["event"] != "answered":
            raise CannotGrade(answer["text"], f"track grade {day.key} --file {pasted(row.path)}")
        *told, last = answer["parts"]
        row.tried += last["tried"]
        row.failed += [entry for entry in told if entry["failed"]]
        passed = [entry for entry in told if not entry["failed"]]
        row.leaned += [entry for entry in passed if entry["leaned"]]
        row.near += [entry for entry in passed if entry["near"]]


def lines(row: Row, device: str) -> Iterator[str]:
    """The row of the table, then what failed and the commands that show it again."""
    cells = [row.day.label, row.path.stem, row.tried, *map(len, (row.failed, row.leaned, row.near))]
    yield "| " + " | ".join(map(str, cells)) + " |"
    for entry in row.failed[:TOLD]:
        yield f"    seed {entry['seed']}, {entry['case']}: {_said(entry)}"
        shown = pasted(os.path.relpath(row.path))
        yield (
            f"        track grade {row.day.key} --file {shown} --{device} --seed {entry['seed']} "
            f"-k {entry['case']}"
        )
    if len(row.failed) > TOLD:
        yield f"    and {len(row.failed) - TOLD} more"
    for case, count in Counter(entry["case"] for entry in row.near).items():
        yield f"    near, {count} of these seeds: {case}"


def _said(entry: dict[str, Any]) -> str:
    label = f"{entry['label']}: " if entry.get("label") else ""
    error = entry.get("max_error")
    figures = f" ({error:.1e}, allowed {entry['allowed']:.1e})" if error is not None else ""
    return f"{label}{entry['reason']}{figures}"


def rate(tried: int, failed: int) -> str:
    """How often a right case failed, in words; of none that did, how often it may: the 95 % bound of the
    binomial distribution, which is 3 in as many as were tried (the rule of three).
    """
    told = f"{failed} of {tried:,} cases of right kernels failed"
    if failed or not tried:
        return f"{told}."
    return f"{told}: with 95 % confidence fewer than {1 - 0.05 ** (1 / tried):.1e} of them do."


HEAD = ("day", "file", "cases × seeds", "failed", "ill-conditioned", "near")


def right(day: Day) -> Iterator[Path]:
    """The files of a day that must pass."""
    yield day.solution
    if day.fast_solution.is_file():
        yield day.fast_solution
    yield from planted.right(day)


def main() -> None:
    parser = argparse.ArgumentParser(
        "track dev seeds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("days", nargs="*")
    parser.add_argument("--seeds", type=int, default=100, help="how many; 100 unless told")
    parser.add_argument("--first", type=int, default=1, help="the first of them; 1 unless told")
    parser.add_argument("-k", dest="only", metavar="ID", help="only cases whose id contains ID")
    parser.add_argument("--file", type=Path, action="append", help="instead of the days' own files")
    parser.add_argument("--gpu", action="store_true")
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    tried, failed = 0, 0
    print("| " + " | ".join(HEAD) + " |")
    with Warm("gpu" if chosen.gpu else "cpu") as warm:
        for day in [catalog.find(text) for text in chosen.days] or catalog.course():
            for path in chosen.file or right(day):
                row = Row(day, path)
                scan(row, warm, seeds, chosen.only)
                print("\n".join(lines(row, warm.device)), flush=True)
                tried, failed = tried + row.tried, failed + len(row.failed)
    print(rate(tried, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

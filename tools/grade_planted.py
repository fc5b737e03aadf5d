"""Grades all that is planted, and says what did not get its verdict.

`track dev proof [--gpu [--values]] [--strict] [--only KIND] [--jobs N] [--json FILE] [DAY …]`

A row a day: time of the solution, of its laggards and of torch, the time of a plain copy of the same
bytes, and how many of the planted files got the verdict they must get. What did not is named below its row.
The last line weighs both: how many wrong files were caught, and how many right ones passed.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.warm_client import Warm
from tools.check_planted import RIGHT, Kind, Planted, Tried, attempt, planned, sha256
from tools.grade_in_parallel import each

Key = tuple[str, str, str, str, bool]
BY_VALUES = " by values"  # behind the device of what was not timed: it says less

HEAD = ("day", "ours ms", "laggards ms", "torch ms", "copy ms", "of copy", "of torch", "bar", "ours/bar",
        "laggards/bar", "mistakes", "laggards", "right", "exploits", "grading s")  # fmt: skip


class Record:
    """What was tried so far, kept in a file if there is one: a line of JSON each.

    Started again with the same file, what was right is not graded again while it is the same.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.lock = path, threading.Lock()
        lines = path.read_text("utf-8").splitlines() if path and path.is_file() else []
        self.tried = {_key(tried): tried for tried in map(Tried.read, lines)}

    def right(self, planted: Planted, device: str, strict: bool) -> Tried | None:
        """What it got, if that is known and was right."""
        tried = self.tried.get((planted.kind, planted.name, sha256(planted), device, strict))
        return tried if tried and not tried.wrong else None

    def keep(self, tried: Tried) -> None:
        if self.path:
            with self.lock, self.path.open("a", encoding="utf-8") as file:
                file.write(tried.written() + "\n")


def _key(tried: Tried) -> Key:
    return tried.kind, tried.name, tried.sha256, tried.device, tried.strict


def prove(planted: Sequence[Planted], record: Record, asked: argparse.Namespace) -> Iterator[Tried]:
    """What became of each, in their order."""
    strict, values = asked.strict, asked.values

    def work(one: Planted, warm: Warm) -> Tried:
        device = warm.device + (BY_VALUES if values else "")
        known = record.right(one, device, strict)
        if known is None:
            known = replace(attempt(one, warm, strict, timed=one.timed and not values), device=device)
            record.keep(known)
        return known

    yield from each(work, planted, "gpu" if asked.gpu else "cpu", asked.jobs)


def lines(day: Day, tried: Sequence[Tried]) -> Iterator[str]:
    """The row of the table, then what was wrong."""
    ours = next(iter(_of(tried, "solution")), None)
    speed = ours.speed if ours else None
    slow = [one.speed for one in _of(tried, "laggard") if one.speed]
    cells = [day.label]
    if speed:
        cells += [f"{speed.yours_us / 1e3:.4f}", "/".join(f"{one.yours_us / 1e3:.3f}" for one in slow)]
        measured = speed.evidence != "predicted"  # else nobody has timed torch
        cells += [f"{speed.torch_us / 1e3:.4f}" if measured else "–", f"{speed.copy_us / 1e3:.4f}"]
        cells += [
            f"{speed.of_copy:.2f}",
            f"{speed.of_torch:.2f}" if measured else "–",
            speed.bar,
            f"{speed.ratio:.2f}",
        ]
        cells.append("/".join(f"{one.ratio:.2f}" for one in slow))
    else:
        cells += ["–"] * 9
    cells += [
        _share(tried, "mistake", "bugs"),
        _share(tried, "laggard"),
        _share(tried, "fast", "right"),
        _share(tried, "exploit"),
    ]
    yield "| " + " | ".join([*cells, f"{ours.seconds if ours else 0:.1f}"]) + " |"
    for one in tried:
        yield from (f"    {one.kind} {one.name}: {what}"[:400] for what in one.wrong)


def _share(tried: Iterable[Tried], *kinds: Kind) -> str:
    """How many of these got what they must."""
    found = _of(tried, *kinds)
    return f"{sum(not one.wrong for one in found)}/{len(found)}"


def _of(tried: Iterable[Tried], *kinds: Kind) -> list[Tried]:
    return [one for one in tried if one.kind in kinds]


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "track dev proof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = get_args(Kind)
    parser.add_argument("days", nargs="*")
    parser.add_argument("--gpu", action="store_true", help="compiled and timed, on all GPUs that are visible")
    parser.add_argument("--only", action="append", choices=kinds, metavar="KIND", help=", ".join(kinds))
    parser.add_argument(
        "--values", action="store_true", help="time nothing, so that nothing waits for its GPU; no laggards"
    )
    parser.add_argument("--strict", action="store_true", help="confine them; nothing is to change")
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        default=os.cpu_count() or 1,
        help="so many at once; every core. What is timed waits for its GPU",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="keep each verdict there, and grade what is not, or was wrong",
    )
    return parser.parse_args()


def main() -> None:
    asked = _asked()
    days = [catalog.find(text) for text in asked.days] or catalog.course()
    kinds = asked.only or get_args(Kind)
    wanted = [one for day in days for one in planned(day, asked.gpu) if one.kind in kinds]
    if asked.values:
        wanted = [one for one in wanted if one.by_values]
    if not wanted:
        sys.exit("Nothing that is planted there is graded so: see --only, and what --values leaves out.")
    if asked.gpu:
        wanted.sort(key=lambda one: not one.timed)  # each alone on its GPU: the others then share it
    left = {day.key: sum(one.day is day for one in wanted) for day in days}
    found: dict[int | str, list[Tried]] = {day.key: [] for day in days}
    print("| " + " | ".join(HEAD) + " |")
    for one, tried in zip(wanted, prove(wanted, Record(asked.json), asked), strict=True):
        found[one.day.key].append(tried)
        if len(found[one.day.key]) == left[one.day.key]:
            print("\n".join(lines(one.day, found[one.day.key])), flush=True)
    every = [one for each_day in found.values() for one in each_day]
    wrong = [kind for kind in get_args(Kind) if kind not in RIGHT]
    files = f"mistakes, laggards and exploits {_share(every, *wrong)}, right files {_share(every, *RIGHT)}"
    print(f"\nAs planned: {files}")
    sys.exit(1 if any(tried.wrong for tried in every) else 0)


if __name__ == "__main__":
    main()

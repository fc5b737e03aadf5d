"""The course's proof: `track dev proof [--gpu] [--strict] [--quick] [--exploits] [--json FILE] [DAY …]`.

A row a day: time of the solution, of its laggards and of torch, the time of a plain copy of the same
bytes, and how many of the planted files got the verdict they must get. What did not is named below its row.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import Day
from grader.dev import planted
from grader.dev.truth import untrue
from grader.engine.grade import grade
from grader.engine.warm import Warm
from grader.errors import TrackError
from grader.judge.bugs import states
from grader.judge.challenges import load_challenges
from grader.screens.pieces import spoken
from grader.verdict import Verdict


@dataclass
class Row:
    """What one day's files got; graded strictly, if `strict`."""

    day: Day
    strict: bool = False
    solution: Verdict | None = None
    laggards: list[Verdict] = field(default_factory=list)
    caught: int = 0
    planted: int = 0
    honest: int = 0
    exploits: int = 0
    held: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bugged:
    """The solution with some of the bugs of a hunt."""

    bugs: tuple[str, ...]

    @property
    def name(self) -> str:
        return " and ".join(self.bugs)

    def source(self, day: Day) -> str:
        return planted.with_bugs(day, self.bugs)


File = Path | planted.Mistake | planted.Laggard | Bugged


def prove(day: Day, warm: Warm, quick: bool = False, strict: bool = False) -> Row:
    """Grade all that is planted for a day; `quick` leaves out the mistakes that a CPU shows as well."""
    row = Row(day, strict)
    row.solution = _grade(day, day.solution, warm, row)
    if row.solution and row.solution.status != "passed":
        row.wrong.append(f"solution: {_said(row.solution)}")
    fast = [day.fast_solution] if day.fast_solution.is_file() else []
    for path in (*fast, *planted.honest(day)):
        verdict = _grade(day, path, warm, row)
        row.honest += bool(verdict and verdict.status == "passed")
        if verdict and verdict.status != "passed":
            kind = "fast" if path in fast else "honest"
            row.wrong.append(f"{kind} {path.stem}: {_said(verdict)}")
    for laggard in planted.laggards(day):
        verdict = _grade(day, laggard, warm, row)
        if verdict:
            row.laggards.append(verdict)
            seen = warm.device == "gpu" or not laggard.unseen
            if verdict.status != ("slow" if seen else "passed"):
                row.wrong.append(f"laggard {laggard.name}: {_said(verdict)}")
    for mistake in planted.mistakes(day):
        if not mistake.shows(warm.device == "gpu") or (quick and not mistake.gpu):
            continue
        row.planted += 1
        verdict = _grade(day, mistake, warm, row)
        row.wrong += [f"mistake {mistake.name}: untrue: {what}" for what in _untrue(verdict, mistake, day)]
        so_far = spoken(verdict.pieces) if verdict and warm.device == "cpu" else ""
        if so_far and so_far != (mistake.so_far or so_far):
            row.wrong.append(f"mistake {mistake.name}: so far {so_far}")
        if verdict and _caught(verdict, mistake):
            row.caught += 1
        elif verdict:
            row.wrong.append(f"mistake {mistake.name} ({mistake.fails}, {mistake.says!r}): {_said(verdict)}")
    try_bugs(day, warm, row)
    try_exploits(day, warm, row)
    return row


def try_bugs(day: Day, warm: Warm, row: Row) -> None:
    """Of a bug hunt, every set of its bugs: what nothing hides stands, and what is absent is gone."""
    bugs = [bug for challenge in load_challenges(day.hidden_tests) for bug in challenge.bugs]
    every = [bug.name for bug in bugs]
    for names in chain.from_iterable(combinations(every, size + 1) for size in range(len(every))):
        row.planted += 1
        verdict = _grade(day, Bugged(names), warm, row)
        found = [bug.state for bug in verdict.hunt.bugs] if verdict and verdict.hunt else []
        wanted = states(bugs, {name: name not in names for name in every})
        row.caught += found == wanted
        if verdict and (found != wanted or verdict.status != "failed"):
            row.wrong.append(f"bugs {Bugged(names).name}: {', '.join(found)}; {_said(verdict)}")


def try_exploits(day: Day, warm: Warm, row: Row) -> None:
    """Grade the day's exploits, each whole, and where a case is enough for its message that alone."""
    for exploit in planted.exploits(day):
        if exploit.gpu and warm.device == "cpu":
            continue
        row.exploits += 1
        how: dict[str, Any] = {"warm": warm, "strict": row.strict or exploit.strict}
        whole = grade(day, exploit.path, **how)
        told = grade(day, exploit.path, only=exploit.only, **how) if exploit.only else whole
        row.held += whole.status != "passed"
        # On a GPU those for a CPU end by host memory that is none of a kernel's, in whatever words.
        as_told = _as_it_says(told, exploit) or (warm.device == "gpu" and not exploit.gpu)
        if whole.status == "passed" or not as_told:
            row.wrong.append(f"exploit {exploit.path.stem}: {_said(whole)}; {_said(told)}")


def _as_it_says(verdict: Verdict, exploit: planted.Exploit) -> bool:
    return _failed_group(verdict) == exploit.fails and exploit.says in verdict.diagnosis


def _grade(day: Day, file: File, warm: Warm, row: Row) -> Verdict | None:
    with tempfile.TemporaryDirectory() as folder:
        path = file if isinstance(file, Path) else Path(folder) / "kernel.py"
        try:
            if not isinstance(file, Path):
                path.write_text(file.source(day), encoding="utf-8")
            return grade(day, path, warm=warm, strict=row.strict)
        except TrackError as error:
            row.wrong.append(f"{file.stem if isinstance(file, Path) else file.name}: {error}")
            return None


def _caught(verdict: Verdict, mistake: planted.Mistake) -> bool:
    told = (mistake.words(verdict.on_gpu) in verdict.diagnosis) != mistake.wish
    return _failed_group(verdict) in mistake.groups(verdict.on_gpu) and told


def _failed_group(verdict: Verdict) -> str:
    """Of the first check that did not pass."""
    return next((c.group for c in verdict.checks if c.outcome not in ("passed", "not measured")), "")


def _untrue(verdict: Verdict | None, mistake: planted.Mistake, day: Day) -> list[str]:
    return untrue(verdict, mistake.source(day)) if verdict else []


def _said(verdict: Verdict) -> str:
    speed = f" ({verdict.speed.ratio:.2f} of the bar)" if verdict.speed else ""
    failed = next((c.name for c in verdict.checks if c.outcome not in ("passed", "not measured")), "")
    return f"{verdict.status}{speed} {failed}: {verdict.diagnosis}"


def lines(row: Row) -> Iterator[str]:
    """The row of the table, then what was wrong."""
    speed = row.solution.speed if row.solution else None
    slow = [v.speed.yours_us / 1e3 for v in row.laggards if v.speed]
    shares = [v.speed.ratio for v in row.laggards if v.speed]
    cells = [row.day.label]
    if speed:
        cells += [
            f"{speed.yours_us / 1e3:.4f}",
            "/".join(f"{ms:.3f}" for ms in slow),
            f"{speed.torch_us / 1e3:.4f}",
        ]
        cells += [f"{speed.copy_us / 1e3:.4f}", f"{speed.of_copy:.2f}", f"{speed.of_torch:.2f}"]
        cells += [speed.bar, f"{speed.ratio:.2f}", "/".join(f"{share:.2f}" for share in shares)]
    else:
        cells += ["–"] * 9
    seconds = row.solution.seconds if row.solution else 0
    cells += [f"{row.caught}/{row.planted}", str(row.honest), f"{row.held}/{row.exploits}", f"{seconds:.1f}"]
    yield "| " + " | ".join(cells) + " |"
    yield from (f"    {line[:400]}" for line in row.wrong)


HEAD = ("day", "ours ms", "laggards ms", "torch ms", "copy ms", "of copy", "of torch", "bar", "ours/bar",
        "laggards/bar", "caught", "honest", "exploits", "grading s")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        "track dev proof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("days", nargs="*")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--exploits", action="store_true", help="grade these alone")
    parser.add_argument("--strict", action="store_true", help="confine them; nothing is to change")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    record: list[dict[str, Any]] = []
    print("| " + " | ".join(HEAD) + " |")
    with Warm("gpu" if chosen.gpu else "cpu") as warm:
        for day in [catalog.find(text) for text in chosen.days] or catalog.course():
            strict = chosen.strict
            row = Row(day, strict) if chosen.exploits else prove(day, warm, chosen.quick, strict)
            if chosen.exploits:
                try_exploits(day, warm, row)
            print("\n".join(lines(row)), flush=True)
            verdicts = [v.to_json() for v in (row.solution, *row.laggards) if v]
            record.append({"day": day.key, "wrong": row.wrong, "verdicts": verdicts})
            if chosen.json:
                chosen.json.write_text(json.dumps(record))


if __name__ == "__main__":
    main()

"""`track dev bars FILE`: do the speed bars part right kernels from slow ones, and which would?

A bar stands if the slowest right kernel (ours, ours tuned, right alternatives) passes it with 15 % to spare,
and the fastest laggard misses it by 15 %. A laggard counts on the bar of its day where it is slowest beside
ours: there it is meant to fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from grader.challenge import Challenge, Speed
from grader.challenge.loading import load_challenges
from grader.cli.benchmark.results import COPY, Result
from grader.cli.screens import Terminal
from grader.cli.screens.speed_rows import duration
from grader.course.catalog import Day
from grader.performance.predict.reference_predictions import bar_name
from tools import planted
from tools.measure import record, timed

MARGIN = 1.15
STEP = 0.05  # bars are multiples of it
PEERS = {"of_copy": COPY, "of_torch": "eager"}

Measured = Mapping[str, Result]


@dataclass(frozen=True)
class Held:
    """One bar and what was measured on it. Times are in µs.

    Attributes:
        needed: what a kernel may take, by the easier of the bar's shares.
        right: the slowest right kernel, and its time.
        slow: the fastest laggard that is meant to fail here, and its time; None where none is.
        kind: `of_copy` or `of_torch`, the easier share; `peer` is the time that it is a share of.
    """

    bar: str
    needed: float
    right: tuple[str, float]
    slow: tuple[str, float] | None
    kind: str
    share: float
    peer: float

    @property
    def to_spare(self) -> float:
        """Times that the slowest right kernel could be slower."""
        return self.needed / self.right[1]

    @property
    def missed_by(self) -> float | None:
        """Times that the fastest laggard is too slow."""
        return self.slow[1] / self.needed if self.slow else None

    @property
    def stands(self) -> bool:
        return self.to_spare >= MARGIN and (self.missed_by is None or self.missed_by >= MARGIN)

    @property
    def fitting(self) -> float | None:
        """A share with both margins: the middle of those that have them, rounded where that leaves them; None
        where none has.
        """
        most = self.peer / (MARGIN * self.right[1])
        if self.slow is None:
            return _step(most - STEP / 2)
        least = self.peer * MARGIN / self.slow[1]
        if least > most:
            return None
        middle = sqrt(least * most)
        return _step(middle) if least <= _step(middle) <= most else round(middle, 3)


def _step(share: float) -> float:
    return round(round(share / STEP) * STEP, 2)


def held(day: Day, measured: Mapping[str, Measured]) -> Iterator[Held]:
    """Every bar of a day that was measured."""
    bars = {
        bar_name(day.stem, challenge.entry, speed.case.id, speed.part): speed
        for challenge, speed in _speeds(day)
    }
    found = {bar: {n: r for n, r in measured[bar].items() if r.us} for bar in bars if bar in measured}
    meant = _meant(day, found)
    for bar, results in found.items():
        right = {n: r.us for n, r in results.items() if n in ("ours", "fast") or n.startswith("right: ")}
        slow = {name: results[name].us for name in meant.get(bar, ())}
        shares = {kind: getattr(bars[bar], kind) for kind in PEERS if PEERS[kind] in results}
        needed = {kind: results[PEERS[kind]].us / share for kind, share in shares.items() if share}
        if right and needed:
            kind = max(needed, key=lambda one: needed[one])
            named = (
                max(right.items(), key=lambda one: one[1]),
                min(slow.items(), key=lambda one: one[1], default=None),
            )
            yield Held(bar, needed[kind], *named, kind, shares[kind], results[PEERS[kind]].us)


def _speeds(day: Day) -> list[tuple[Challenge, Speed]]:
    return [(one, speed) for one in load_challenges(day.hidden_tests) for speed in one.speeds]


def _meant(day: Day, found: Mapping[str, Measured]) -> dict[str, list[str]]:
    """By bar the laggards that are slower there, beside ours, than on the day's other bars."""
    meant: dict[str, list[str]] = {}
    for laggard in planted.laggards(day):
        times = {
            bar: results[laggard.name].us / results["ours"].us
            for bar, results in found.items()
            if laggard.name in results and "ours" in results
        }
        if times:
            meant.setdefault(max(times, key=lambda bar: times[bar]), []).append(laggard.name)
    return meant


def report(terminal: Terminal, file: Path, days: Sequence[Day]) -> int:
    """Prints a line a bar; 1 if one does not stand.

    Raises:
        TrackError: the file holds no measurement.
    """
    kept = record(file)
    measured = timed(kept)
    every = [one for day in days for one in held(day, measured)]
    terminal.line(f"Each bar by {list(kept.machines)[-1]}: at least {MARGIN - 1:.0%} to spare on both sides.")
    rows = [
        ("", "bar", "now", "slowest right kernel", "to spare", "fastest laggard", "misses by", "would fit")
    ]
    for one in every:
        mark = terminal.mark("passed" if one.stands else "failed")[0]
        rows.append((mark, one.bar, f"{one.share:.2f} {one.kind[3:]}", *_right(one), *_slow(one), _fits(one)))
    terminal.table(rows)
    falling = sum(not one.stands for one in every)
    terminal.line(f"{len(every) - falling} of {len(every)} bars stand.")
    return 1 if falling else 0


def _right(one: Held) -> tuple[str, str]:
    return f"{one.right[0]} {duration(one.right[1])}", f"{one.to_spare - 1:+.0%}"


def _slow(one: Held) -> tuple[str, str]:
    if one.slow is None or one.missed_by is None:
        return "none is meant to fail here", "-"
    return f"{one.slow[0]} {duration(one.slow[1])}", f"{one.missed_by - 1:+.0%}"


def _fits(one: Held) -> str:
    fitting = one.fitting
    return "no share does" if fitting is None else f"{fitting:g}"

"""What `track bench` found: shares of what this GPU could do, and the times at the size that is graded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod
from pathlib import Path
from typing import Any

from grader.cli.benchmark.results import COPY, Machine, Point, Result
from grader.cli.screens.speed_rows import duration
from grader.cli.screens.terminal import Part, Terminal, near

OWN = ("yours", "ours", "fast")
ORDER = (*OWN, "eager", "compile")  # then libraries
TORCH = ("eager", "compile")


class Live:
    """A line that says what is measured; nothing where nobody watches."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal, self.status = terminal, terminal.console.status("starting")
        self.points, self.reached, self.where = 0, 0, "what this GPU reaches"

    def __call__(self, event: dict[str, Any]) -> None:
        who = ""
        if event["event"] == "plan":
            self.points = event["points"]
        elif event["event"] == "point":
            point = Point(**event["point"])
            self.where, self.reached = f"{titled(point)}, {label(point)} {point.dtype}", self.reached + 1
        elif event["event"] == "trying":
            who = f": {event['provider']}"
        self.status.update(self.terminal.text(f"{self.reached}/{self.points} {self.where}{who}"))

    def __enter__(self) -> Live:
        if self.terminal.live:
            self.status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.status.stop()


def label(point: Point) -> str:
    """`m=n=512`, `n=1024`, or `n=1024, v=32` where they differ."""
    if len(set(point.sizes.values())) == 1:
        return "=".join([*point.sizes, str(next(iter(point.sizes.values())))])
    return ", ".join(f"{name}={size}" for name, size in point.sizes.items())


def providers(results: Sequence[Result]) -> list[str]:
    """Those that were measured, the learner's first; a copy is no provider."""
    names = list(dict.fromkeys(result.provider for result in results if result.provider != COPY))
    return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def series(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results by title: those of one function and pass, where the same sizes grow."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(titled(result.point), []).append(result)
    return found


def titled(point: Point) -> str:
    """`Day 7 · transpose() over m=n`; an extra by its name."""
    named = f"Day {point.day}" if isinstance(point.day, int) else point.day
    part = f", {point.part}" if point.part != "forward" else ""
    return f"{named} · {point.entry}(){part} over {'='.join(point.sizes)}"


def curves(results: Sequence[Result]) -> dict[str, dict[str, list[tuple[float, str, float]]]]:
    """By title and provider: elements of the sizes that grow, their label, and the share; small ones first.

    A title with one size alone is no curve.
    """
    found: dict[str, dict[str, list[tuple[float, str, float]]]] = {}
    for title, group in series(results).items():
        for dtype in dict.fromkeys(result.point.dtype for result in group):
            of_each = {}
            for name in providers(group):
                own = [
                    r
                    for r in group
                    if (r.provider, r.point.dtype) == (name, dtype) and r.us and not r.problem
                ]
                of_each[name] = sorted(
                    (float(prod(r.point.sizes.values())), label(r.point), r.of_limit) for r in own
                )
            if max(map(len, of_each.values())) > 1:
                found[f"{title} · {dtype}"] = of_each
    return found


def table(
    terminal: Terminal,
    results: Sequence[Result],
    machine: Machine,
    missing: Sequence[str],
    file: Path,
    next_: str,
) -> None:
    """Prints each function's sweep, and the times at the size that is graded.

    Args:
        results: those that were asked for.
        missing: packages that would have been timed, too.
        file: where all of it is kept.
        next_: the command to type next.
    """
    terminal.line((machine.gpu, "bold"), f"   copies {machine.copy_gb_s:,.0f} GB/s")
    rates = ", ".join(f"{name} {rate:,.0f}" for name, rate in machine.tflops.items())
    terminal.line(f"products, TFLOP/s: {rates}. The limit of a row is the slower of copy and product.")
    for title, group in series(results).items():
        terminal.line()
        terminal.line((title, "bold"), "   share of the limit")
        names = providers(group)
        head: list[Part] = [(word, "dim") for word in ("size", "dtype", "limit", *names)]
        terminal.table([head, *_rows(group, names)])
        _at_the_bar(terminal, [result for result in group if result.point.timed])
        _problems(terminal, group)
    if missing:
        terminal.line()
        terminal.line(f"Not installed, and so not timed: {', '.join(missing)}.")
    terminal.line()
    terminal.line(f"Kept in {near(file)}; only what has changed is measured again (--again: all of it).")
    terminal.next(next_)


def _rows(group: Sequence[Result], names: Sequence[str]) -> list[list[Part]]:
    """A row a point."""
    rows: list[list[Part]] = []
    by_bar = {(result.point.bar, result.provider): result for result in group}
    for point in {result.point.bar: result.point for result in group}.values():
        shares = [_share(by_bar.get((point.bar, name))) for name in names]
        rows.append([label(point), point.dtype, duration(point.limit_us) if point.limit_us else "-", *shares])
    return rows


def _share(result: Result | None) -> str:
    if result is None:
        return "-"
    return f"{result.of_limit:.2f}{'!' if result.problem else ''}" if result.us else "!"


def _at_the_bar(terminal: Terminal, group: Sequence[Result]) -> None:
    """The times where a grading takes them, and how much faster than the others each of ours is."""
    timed = [result for result in group if result.us]
    if not timed:
        return
    others = [result.us for result in timed if result.provider not in (*OWN, COPY) and not result.problem]
    terminal.line(f"timed by a grading: {timed[0].point.case}", indent=2)
    rows: list[list[Part]] = []
    for name in [*providers(timed), COPY]:
        for result in (one for one in timed if one.provider == name):
            spread = 50 * (result.high - result.low) / result.us
            versus = (
                f"{min(others) / result.us:.2f}× the best of the others" if others and name in OWN else ""
            )
            wall = f"{duration(result.wall_us)} by the clock" if result.wall_us else ""
            rows.append([name, duration(result.us), f"±{spread:.1f} %", wall, versus])
    terminal.table(rows, indent=4)


def _problems(terminal: Terminal, group: Sequence[Result]) -> None:
    """What could not be timed, once for each reason."""
    told = sorted((result for result in group if result.problem), key=lambda one: (one.provider, one.problem))
    for (name, problem), alike in groupby(told, key=lambda one: (one.provider, one.problem)):
        points = [one.point for one in alike]
        more = f" and {len(points) - 1} more" if len(points) > 1 else ""
        where = f"{label(points[0])} {points[0].dtype}{more}"
        terminal.line((f"! {name}", "yellow"), f" at {where}: {problem}", indent=2)

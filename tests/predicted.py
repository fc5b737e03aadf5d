"""Predicted against measured: `python -m tests.predicted [--write] [--gpu KEY] [--measured FILE] [DAY …]`.

It prints what is predicted for every solution and laggard; `--write` keeps the solutions' times in
grader/meter/ours.json, which the check holds learners against. With a file of times that tests.measured made
on a GPU, those stand beside, and their rank correlation below.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import Day
from grader.errors import TrackError
from grader.insight import ask
from grader.meter import gpus
from grader.meter.prediction import OURS
from grader.warm import Warm
from tests.measured import kernels


@dataclass
class Row:
    """One kernel on one speed bar; times in µs, None where there is none."""

    bar: str
    kernel: str
    predicted: float
    of_ours: float
    fails: str
    unseen: str = ""
    measured: float | None = None


def rows(day: Day, gpu: str, warm: Warm) -> Iterator[Row]:
    """Our solution first, then its laggards, on every bar of the day."""
    ours: dict[str, float] = {}
    for name, source, unseen in kernels(day):
        for part in _inspected(day, source, gpu, warm):
            ours.setdefault(part["name"], part["us"])
            fails = [fact["name"] for fact in part["facts"] if not fact["passed"] and fact["name"] != "time"]
            times = part["us"] / ours[part["name"]]
            fails += ["time"] if times >= 3 else []
            yield Row(part["name"], name, part["us"], times, ", ".join(dict.fromkeys(fails)), unseen)


def _inspected(day: Day, source: str, gpu: str, warm: Warm) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(source, encoding="utf-8")
        try:
            parts = ask(day, path, "inspect", warm=warm, gpu=gpu, machine=False, code="")
        except TrackError as error:
            print(f"    {day.stem}: {error}")
            return []
    return [part for part in parts if part["ideal"]]


def rank_correlation(pairs: list[tuple[float, float]]) -> float:
    """Spearman's ρ of two columns without ties."""
    columns = []
    for column in zip(*pairs, strict=True):
        order = sorted(range(len(column)), key=lambda i: column[i])
        columns.append({index: rank for rank, index in enumerate(order)})
    n, (first, second) = len(pairs), columns
    return 1 - 6 * sum((first[i] - second[i]) ** 2 for i in range(n)) / (n * (n * n - 1))


def line(row: Row) -> str:
    measured = f"{row.measured:.0f}" if row.measured else "–"
    fails = row.fails or ("(unseen)" if row.unseen else "–")
    return f"| {row.bar} | {row.kernel} | {row.predicted:.0f} | {measured} | {row.of_ours:.1f} | {fails} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("days", nargs="*")
    parser.add_argument("--gpu", default=gpus.USUAL)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--measured", type=Path)
    chosen = parser.parse_args()
    days = [catalog.find(text) for text in chosen.days] or list(catalog.days())
    print("| bar | kernel | predicted µs | measured µs | of ours | fails |\n|---|---|---|---|---|---|")
    found: list[Row] = []
    with Warm("cpu") as warm:
        for day in days:
            found += rows(day, chosen.gpu, warm)
    if chosen.measured:
        times = json.loads(chosen.measured.read_text(encoding="utf-8"))["times"]
        for row in found:
            row.measured = times.get(row.bar, {}).get(row.kernel)
    print("\n".join(line(row) for row in found))
    pairs = [(row.predicted, row.measured) for row in found if row.measured]
    if len(pairs) > 1:
        print(f"\nrank correlation over {len(pairs)} kernels: {rank_correlation(pairs):.3f}")
    if chosen.write:
        _write(found)


def _write(found: list[Row]) -> None:
    """Keep our solutions' times; those of days that were not asked for stay."""
    kept = json.loads(OURS.read_text(encoding="utf-8")) if OURS.exists() else {}
    kept |= {row.bar: round(row.predicted, 1) for row in found if row.kernel == "ours"}
    OURS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

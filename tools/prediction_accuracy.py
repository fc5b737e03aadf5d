"""Predicted against measured: `track dev predicted [--write] [--gpu KEY] [--measured FILE] [DAY …]`.

It prints what is predicted for every solution, right alternative and laggard; `--write` keeps the solutions'
times in ours.json, which the check holds learners against. (`slack` there is a solution's ratio to its bar on
a GPU, as `track grade` prints it.) With a file of times that `track dev measured` made on a GPU, or with
performance/predict/README.md, they stand beside; below, the rank correlation, and whether the driver reported
the registers, spills and shared memory that were compiled here.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import triton

from grader import datasheets
from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError
from grader.grading.inspection_request import ask
from grader.grading.warm_client import Warm
from grader.performance.predict import reference_predictions as kept_ours
from grader.performance.predict.reference_predictions import OURS
from tools import measure
from tools.measure import kernels

COLUMNS = 6  # of the table
REPORTED = ("registers", "stack", "shared")  # by the driver, too


@dataclass
class Row:
    """One kernel on one speed bar; times in µs, None where there is none."""

    bar: str
    kernel: str
    predicted: float
    of_ours: float
    fails: str
    unseen: str = ""
    flops: float = 0.0
    profile: dict[str, Any] = field(default_factory=dict)
    built: list[dict[str, Any]] = field(default_factory=list)
    measured: float | None = None


def rows(day: Day, gpu: str, warm: Warm) -> Iterator[Row]:
    """Our solution first, then its laggards, on every bar of the day."""
    ours: dict[str, float] = {}
    for name, source, unseen in kernels(day):
        for part in _inspected(day, source, gpu, warm):
            ours.setdefault(part["name"], part["us"])
            fails = [fact["name"] for fact in part["facts"] if not fact["passed"]]
            times, kept = part["us"] / ours[part["name"]], kept_ours.ours(part["name"])
            fails += ["time"] if times >= (kept.times if kept else kept_ours.SLOWER) else []
            told = ", ".join(dict.fromkeys(fails))
            known = part["flops"], part["profile"], list(_built(part))
            yield Row(part["name"], name, part["us"], times, told, unseen, *known)


def _inspected(day: Day, source: str, gpu: str, warm: Warm) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(source, encoding="utf-8")
        try:
            parts = ask(day, path, "inspect", warm=warm, gpu=gpu, code="")
        except TrackError as error:
            print(f"    {day.stem}: {error}")
            return []
    return [part for part in parts if part["ideal"]]


def _built(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the driver reports of a kernel, too."""
    for launch in part["launches"]:
        facts = launch["compiled"]["facts"]
        if facts:
            yield {"kernel": launch["kernel"], **{name: facts[name] for name in REPORTED}}


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
    parser = argparse.ArgumentParser(
        "track dev predicted", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("days", nargs="*")
    parser.add_argument("--gpu", default=datasheets.USUAL)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--measured", type=Path)
    chosen = parser.parse_args()
    days = [catalog.find(text) for text in chosen.days] or list(catalog.course())
    print("| bar | kernel | predicted µs | measured µs | of ours | fails |\n|---|---|---|---|---|---|")
    found: list[Row] = []
    with Warm("cpu") as warm:
        for day in days:
            found += rows(day, chosen.gpu, warm)
    if chosen.measured:
        record = _record(chosen.measured)
        for row in found:
            row.measured = record["times"].get(row.bar, {}).get(row.kernel)
    print("\n".join(line(row) for row in found))
    pairs = [(row.predicted, row.measured) for row in found if row.measured]
    if len(pairs) > 1:
        print(f"\nrank correlation over {len(pairs)} kernels: {rank_correlation(pairs):.3f}")
    if chosen.measured:
        _compare(found, record)
    if chosen.write:
        _write(found)


def _record(file: Path) -> dict[str, Any]:
    """What `track dev measured` wrote; of a page with the table that this prints, the times alone."""
    record: dict[str, Any] = {"triton": "", "times": {}, "launches": {}}
    if file.suffix != ".md":
        kept = measure.record(file)
        record["triton"] = list(kept.machines.values())[-1].versions.get("triton", "")
        for bar, kernels in measure.timed(kept).items():
            record["times"][bar] = {name: one.us for name, one in kernels.items() if one.us}
            stem = record["launches"].setdefault(bar.split("/")[0], {})
            for name, one in kernels.items():
                stem.setdefault(name, []).extend(one.kernels)
        return record
    for row in file.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) == COLUMNS + 2 and cells[4].isdigit():
            record["times"].setdefault(cells[1], {})[cells[2]] = float(cells[4])
    return record


def _compare(found: list[Row], record: dict[str, Any]) -> None:
    """Which kernels the driver of the GPU reports otherwise than they were compiled here."""
    if not record["triton"]:
        return
    if record["triton"] != triton.__version__:
        print(f"registers are not compared: Triton {triton.__version__} here, {record['triton']} there")
        return
    unlike, count = [], 0
    for row in found:
        driver = record["launches"].get(row.bar.split("/")[0], {}).get(row.kernel, [])
        for facts in row.built if driver else ():
            count += 1
            if facts not in driver:
                same = [entry for entry in driver if entry["kernel"] == facts["kernel"]]
                unlike.append(f"    {row.bar}, {row.kernel}: {facts}, the driver: {same}")
    print(f"registers, spills and shared memory: {count - len(unlike)} of {count} kernels as the driver says")
    print(*unlike, sep="\n")


def _write(found: list[Row]) -> None:
    """Keep our solutions' times and profiles; those of days that were not asked for stay."""
    kept = json.loads(OURS.read_text(encoding="utf-8")) if OURS.exists() else {}
    for row in found:
        if row.kernel == "ours":
            kept[row.bar] = {**kept.get(row.bar, {}), "us": round(row.predicted, 1)}
            kept[row.bar]["profile"] = row.profile
            if row.flops:
                kept[row.bar]["flops"] = float(f"{row.flops:.4g}")
    OURS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The measured times on the site: behind each lesson, and as a page, beside those that were predicted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from grader.cli.benchmark.results import Machine, Result
from grader.course import catalog
from grader.course.catalog import Day
from tools import plots
from tools.measured import KEPT, TORCH, record, timed
from tools.table import LIBRARIES

BESIDE = {"eager": "torch", "compile": "torch.compile", "limit": "the limit"}
PAGE = catalog.ROOT / "grader" / "performance" / "predict" / "README.md"
ROW = re.compile(r"^\| (\w+)/(\w+)/(\S+)/(\w+) \| (.+?) \| (\d+) \| (\d+) \|", re.MULTILINE)
TOP = """\
# Measured

{how}

Full marks are measured, rings are predicted; all scales are logarithmic. *ours* is the day's solution,
*fast* its tuned form, *honest* a right kernel in another style, everything else right and *slow* by design.
[How speed is predicted](grader/performance/predict/README.md), and from which facts.

## All kernels

{plot}

A kernel on the diagonal was predicted exactly. Above it, it is slower than predicted.
"""


MEASURED = """\
## Measured

On one {gpu}, {date}. A shorter bar is faster. The limit is the time of a plain copy of as many bytes, or of a
large matrix product of as many operations, whichever takes longer.
"""


def of(day: Day) -> str:
    """What ends a lesson: our times beside torch, libraries and the limit; empty where nothing was timed."""
    machine, bars = _timed()
    own = [results for bar, results in bars.items() if bar.split("/")[0] == day.stem]
    plotted = [_beside(results) for results in own if "ours" in results and results["ours"].us]
    top = MEASURED.format(gpu=machine.gpu, date=machine.at[:10])
    return "\n\n".join([top, *plotted]) if plotted else ""


@cache
def _timed() -> tuple[Machine, dict[str, dict[str, Result]]]:
    kept = record(KEPT)
    return list(kept.machines.values())[-1], timed(kept)


def _beside(results: Mapping[str, Result]) -> str:
    """One timed case, those that ran with the solution's limit: others ran at other clocks."""
    own = results["ours"]
    point = own.point
    same = {name: one.us for name, one in results.items() if one.point.limit_us == point.limit_us}
    library = min((name for name in LIBRARIES if same.get(name)), key=lambda name: same[name], default="")
    names = ["ours", "fast", *TORCH, library]
    times = {BESIDE.get(name, name): same[name] for name in names if same.get(name)}
    times["the limit"] = point.limit_us
    passes = "" if point.part == "forward" else f" · {point.part}"
    words = f"{point.entry}, {point.case}: " + ", ".join(f"{name} {us:,.0f} µs" for name, us in times.items())
    return f"`{point.entry}` · `{point.case}`{passes}\n\n{plots.bars(times, words)}"


@dataclass(frozen=True)
class Row:
    """One kernel that was measured. Times are in µs."""

    stem: str
    entry: str
    case: str
    passes: str
    kernel: str
    predicted: float
    measured: float

    @property
    def kind(self) -> str:
        if self.kernel in ("ours", "fast"):
            return "ours"
        return "honest" if self.kernel.startswith("honest") else "slow"


def rows() -> list[Row]:
    """What was measured, in the order of the page; kernels without a measured time are left out."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return [Row(a, b, c, d, e, float(f), float(g)) for a, b, c, d, e, f, g in found]


def page() -> str:
    """The whole page, as Markdown."""
    how = re.search(r"^Predicted by Triton(?:.+\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert how, "the paragraph that says how was measured"
    every = rows()
    points = [plots.Point(row.predicted, row.measured, row.kind) for row in every]
    text = "Predicted against measured times of every kernel that was measured"
    parts = [TOP.format(how=how[0].strip(), plot=plots.scatter(points, text))]
    for stem, group in groupby(every, key=lambda row: row.stem):
        day = next(day for day in catalog.course() if day.stem == stem)
        parts += [f"## [{day.heading}](days/{day.place}/README.md)"]
        bars = groupby(group, key=lambda row: (row.entry, row.case, row.passes))
        parts += [_bar(list(bar)) for _, bar in bars]
    return "\n\n".join(parts) + "\n"


def _bar(group: Sequence[Row]) -> str:
    """One timed case: its plot, and its figures folded."""
    first = group[0]
    what = f"`{first.entry}` · `{first.case}` · {first.passes}"
    lines = [plots.Line(row.kernel, row.predicted, row.measured, row.kind) for row in group]
    table = ["| kernel | predicted µs | measured µs |", "|---|---|---|"]
    table += [f"| {row.kernel} | {row.predicted:,.0f} | {row.measured:,.0f} |" for row in group]
    folded = "\n".join(f"    {line}" for line in table)
    words = f"{first.stem}, {first.entry}: predicted and measured times"
    return f'{what}\n\n{plots.lines(lines, words)}\n\n??? note "In figures"\n\n{folded}'

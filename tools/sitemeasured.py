"""The measured times as a page of the site: the table of performance/predict/README.md, and its plots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.course import catalog
from tools import plots

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

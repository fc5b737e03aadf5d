"""The measured times on the site: behind each lesson, and as a page, beside those that were predicted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from grader.cli.benchmark.results import Machine, Result
from grader.course import catalog
from grader.course.catalog import Day
from tools import plots
from tools.measure import KEPT, TORCH, record, timed
from tools.solutions_table import LIBRARIES

BESIDE = {"eager": "torch", "compile": "torch.compile", "limit": "the limit"}
PAGE = catalog.ROOT / "grader" / "performance" / "predict" / "README.md"
ROW = re.compile(r"^\| \w+/\w+/\S+/\w+ \| (.+?) \| (\d+) \| (\d+) \|", re.MULTILINE)
TOP = """\
# Predicted and measured

{how}

*ours* is the day's solution or its tuned form, *right* a right kernel in another style, everything else
is right and *slow* by design. [How speed is predicted](grader/performance/predict/README.md), from which
facts, and every time that is drawn here.

{plot}

Both scales are logarithmic. A kernel on the diagonal was predicted exactly; one above it is slower.
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


def points() -> list[plots.Point]:
    """The kernels of the table of performance/predict/README.md that were measured."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return [plots.Point(float(predicted), float(us), _kind(kernel)) for kernel, predicted, us in found]


def _kind(kernel: str) -> str:
    if kernel in ("ours", "fast"):
        return "ours"
    return "right" if kernel.startswith("right: ") else "slow"


def page() -> str:
    """The page of all kernels, as Markdown."""
    how = re.search(r"^Predicted by Triton(?:.+\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert how, "the paragraph that says how was measured"
    text = "Predicted against measured times of every kernel that was measured"
    return TOP.format(how=how[0].strip(), plot=plots.scatter(points(), text))

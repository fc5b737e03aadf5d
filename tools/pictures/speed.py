"""What was measured, as bars: our solution, torch, and a copy or a large product, on one scale."""

from __future__ import annotations

from functools import cache

from grader.cli.benchmark.results import Result
from grader.course import catalog
from tools.measure import KEPT, record
from tools.pictures.drawing import MARGIN, Drawing
from tools.pictures.palette import QUIET

NAMES = {"ours": ("our solution", "keep"), "fast": ("ours, tuned", "keep"), "eager": ("torch", "in")}
NAMES |= {"cudnn": ("cuDNN", "in")}
BEGIN, END, ROW = 160, 530, 32


@cache
def _newest() -> list[Result]:
    """What was measured last, on the GPU that was measured last."""
    kept = record(KEPT)
    return [
        one for one in kept.newest(list(kept.machines)[-1]) if one.point.timed and one.us and not one.problem
    ]


def _measured(stem: str, part: str) -> dict[str, Result]:
    """By provider the results of a day's first bar; those of a run with another limit are left out."""
    bar = next(
        one.point.bar for one in _newest() if one.point.bar.startswith(stem) and one.point.bar.endswith(part)
    )
    found = {one.provider: one for one in _newest() if one.point.bar == bar}
    return {name: one for name, one in found.items() if one.point.limit_us == found["ours"].point.limit_us}


def bars(drawing: Drawing, y: float, day: int, case: str, part: str = "", torch: str = "torch") -> None:
    """A day's first timed case, at the bottom; our tuned solution, too, where a peer is faster than ours.

    The last bar is what as many bytes take in a copy, or as many operations in a large product: the longer.

    Args:
        case: what was timed, in words; the times are of tools/measured.jsonl.
        part: which passes, where a day times several.
        torch: its bar's name, where torch has several ways to compute the same.
    """
    results = _measured(f"{catalog.find(str(day)).stem}/", part)
    if all(results[peer].us >= results["ours"].us for peer in ("eager", "cudnn") if peer in results):
        results.pop("fast", None)
    names = NAMES | {"eager": (torch, "in")}
    times = [(*names[name], results[name].us) for name in names if name in results]
    limit = results["ours"].point.limit_us
    times.append(("large product" if limit > 1.5 * results["copy"].us else "a copy", "plain", limit))
    drawing.height = y + 44 + ROW * len(times)
    drawing.words(MARGIN, y + 20, f"Time on an H200: {case}", look=QUIET)
    longest = max(us for *_, us in times)
    for number, (name, kind, us) in enumerate(times):
        top = y + 34 + ROW * number
        drawing.words(MARGIN, top + 20, name)
        drawing.box(BEGIN, top + 2, max((END - BEGIN) * us / longest, 3), 22, kind=kind)
        drawing.words(BEGIN + (END - BEGIN) * us / longest + 10, top + 20, spoken(us))


def spoken(us: float) -> str:
    """A time as a person reads it: 133 µs, 1.44 ms."""
    return f"{us / 1000:.3g} ms" if us >= 999.5 else f"{us:.3g} µs"

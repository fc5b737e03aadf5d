"""What was measured, as bars: our solution, torch and the limit, on one scale."""

from __future__ import annotations

from functools import cache

from grader.cli.benchmark.results import Result
from grader.course import catalog
from tools.measured import KEPT, record
from tools.pictures.drawing import EDGE, WIDE, Drawing
from tools.pictures.palette import QUIET

NAMES = {"ours": ("our solution", "keep"), "fast": ("ours, tuned", "keep"), "eager": ("torch", "in")}
NAMES |= {"cudnn": ("cuDNN", "in")}
LEFT, RIGHT, ROW = 160, WIDE - 110, 32


@cache
def _measured() -> dict[str, dict[str, Result]]:
    """By bar and provider what was measured last, on the GPU that was measured last."""
    kept, found = record(KEPT), dict[str, dict[str, Result]]()
    for result in kept.newest(list(kept.machines)[-1]):
        if result.point.timed and result.us and not result.problem:
            found.setdefault(result.point.bar, {})[result.provider] = result
    return found


def bars(drawing: Drawing, y: float, day: int, case: str, part: str = "") -> None:
    """A day's first timed case, at the bottom; our tuned solution, too, where a peer is faster than ours.

    Args:
        case: what was timed, in words; the times are of tests/measured.jsonl.
        part: which passes, where a day times several.
    """
    stem = catalog.find(str(day)).stem
    results = next(
        found for bar, found in _measured().items() if bar.startswith(f"{stem}/") and bar.endswith(part)
    )
    if all(one.us >= results["ours"].us for one in results.values() if one.provider in ("eager", "cudnn")):
        results = {name: one for name, one in results.items() if name != "fast"}
    times = [(*NAMES[name], results[name].us) for name in NAMES if name in results]
    times.append(("limit", "plain", results["ours"].point.limit_us))
    drawing.height = y + 44 + ROW * len(times)
    drawing.words(EDGE, y + 20, f"Time on an H200: {case}", look=QUIET)
    longest = max(us for *_, us in times)
    for number, (name, kind, us) in enumerate(times):
        top = y + 34 + ROW * number
        drawing.words(EDGE, top + 20, name)
        drawing.box(LEFT, top + 2, max((RIGHT - LEFT) * us / longest, 3), 22, kind=kind)
        drawing.words(LEFT + (RIGHT - LEFT) * us / longest + 10, top + 20, spoken(us))
    if min(us for *_, us in times) < 0.995 * times[-1][2]:
        drawing.note(drawing.height + 8, "limit: at the rate of a plain copy or product; no law")
        drawing.height += 26


def spoken(us: float) -> str:
    """A time as a person reads it: 133 µs, 1.44 ms."""
    return f"{us / 1000:.3g} ms" if us >= 999.5 else f"{us:.3g} µs"

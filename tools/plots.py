"""Two kinds of plot as SVG, in a page's own colours: `site.css` has those of light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 400  # of the drawing, near the pixels of a phone: letters keep their size there
MARGIN = 44  # room for `100 ms`
# Around their middle: a circle, a square and a triangle, which tell without a colour.
MARKS = {
    "ours": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "right": "m-3.5-3.5h7v7h-7z",
    "slow": "m0-4.5l4.5 8h-9z",
}


@dataclass(frozen=True)
class Point:
    """A kernel in the scatter plot, in µs. `kind` is a class of site.css: ours, right or slow."""

    predicted: float
    measured: float
    kind: str


def scatter(points: Sequence[Point], text: str) -> str:
    """Predicted times to the right, measured ones upwards, both logarithmic, with the diagonal."""
    low, high = _decades(value for point in points for value in (point.predicted, point.measured))
    side = WIDTH - 2 * MARGIN
    parts = []
    for power in range(low, high + 1):
        x = MARGIN + side * (power - low) / (high - low)
        name = _time(10.0**power)
        cross = f"M{x:.1f} {MARGIN}V{WIDTH - MARGIN}M{MARGIN} {WIDTH - x:.1f}H{WIDTH - MARGIN}"
        parts.append(f'<path class="rule" d="{cross}"/>')
        parts.append(f'<text x="{x:.1f}" y="{WIDTH - MARGIN + 14}" text-anchor="middle">{name}</text>')
        parts.append(f'<text x="{MARGIN - 4}" y="{WIDTH - x + 4:.1f}" text-anchor="end">{name}</text>')
    parts.append(f'<path class="line" d="M{MARGIN} {WIDTH - MARGIN}L{WIDTH - MARGIN} {MARGIN}"/>')
    for point in points:
        x = MARGIN + side * _along(point.predicted, low, high)
        parts.append(_mark(point.kind, x, WIDTH - MARGIN - side * _along(point.measured, low, high)))
    for place, kind in enumerate(MARKS):
        x = MARGIN + place * 70
        parts.append(f'{_mark(kind, x, WIDTH - 10)}<text x="{x + 8}" y="{WIDTH - 6}">{kind}</text>')
    parts.append(f'<text x="{WIDTH - MARGIN}" y="{WIDTH - 6}" text-anchor="end">predicted</text>')
    parts.append(f'<text x="4" y="{MARGIN - 12}">measured</text>')
    return _svg(parts, WIDTH, text)


def bars(times: Mapping[str, float], text: str) -> str:
    """A bar for each time, in µs, from zero; `ours` and `fast` in colour, the limit as an outline."""
    room = WIDTH - 100 - 60  # between the names and the longest bar's figure
    parts = []
    for number, (name, us) in enumerate(times.items()):
        y, wide = 22 * number, room * us / max(times.values())
        kind = {"ours": "ours", "fast": "ours", "the limit": "ring"}.get(name, "peer")
        parts.append(f'<text x="94" y="{y + 13}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<path class="{kind}" d="M100 {y + 2}h{max(wide, 1):.1f}v14h-{max(wide, 1):.1f}z"/>')
        parts.append(f'<text x="{wide + 106:.1f}" y="{y + 13}">{_time(us)}</text>')
    return _svg(parts, 22 * len(times), text)


def _mark(kind: str, x: float, y: float) -> str:
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}{MARKS[kind]}"/>'


def _svg(parts: Iterable[str], height: float, text: str) -> str:
    inside = "".join(parts)
    box = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    return f'<svg class="plot" {box} role="img" aria-label="{escape(text)}">{inside}</svg>'


def _decades(values: Iterable[float]) -> tuple[int, int]:
    """The powers of ten around all values."""
    every = list(values)
    return math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))


def _along(value: float, low: int, high: int) -> float:
    return (math.log10(value) - low) / (high - low)


def _time(microseconds: float) -> str:
    """`90 µs`, `1.56 ms`: three figures of it."""
    if microseconds < 1000:
        return f"{microseconds:.3g} µs"
    return f"{microseconds / 1000:.3g} ms" if microseconds < 1e6 else f"{microseconds / 1e6:.3g} s"

"""The plots of `track report`, as SVG in its page's colours: a speed, curves of a bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log2

WIDTH, HEIGHT = 400, 230  # of a plot, near the pixels of a phone: letters keep their size there
LEFT, BELOW, ABOVE = 30, 24, 8
FASTEST = 2.5  # times the speed that is needed: what is faster fills its bar
# Around their middle: shapes that tell series apart without a colour.
MARKS = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "m-3.5-3.5h7v7h-7z", "m0-5l5 8.5h-10z", "m0-5l5 5l-5 5l-5-5z",
    "m0 5l5-8.5h-10z", "m-4-1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z",
    "m-5-2h10v4h-10z", "m-2-5h4v10h-4z", "m-4-4l8 8m0-8l-8 8",
)  # fmt: skip

Curve = Sequence[tuple[float, str, float]]  # elements, a label, a share


def bullet(ratio: float, kind: str, told: str) -> str:
    """A bar as long as the speed that was reached, and a line at what is needed; the scale ends at FASTEST.

    Args:
        ratio: times the speed that is needed.
        kind: `measured` or `predicted`, a class of the page.
    """
    scale = 200 / FASTEST
    parts = [_box("trough", 0, 3, 200, 8), _box(kind, 0.75, 3, min(ratio, FASTEST) * scale - 1.5, 8)]
    parts.append(f'<path class="need" d="M{scale:.1f} 0v14"/>')
    box = 'viewBox="0 0 200 14" preserveAspectRatio="xMinYMid"'
    return f'<svg class="bullet" {box} role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'


def curves(lines: Mapping[int, Curve], told: str) -> str:
    """Shares of the limit against size, a line for each series, by its number; sizes stand as far apart as
    their logarithms.
    """
    sizes = sorted({(x, words) for line in lines.values() for x, words, _ in line})
    most = max([1.0, *(share for line in lines.values() for *_, share in line)])
    low, high = log2(sizes[0][0]), log2(sizes[-1][0])
    right, ground = WIDTH - 12, HEIGHT - BELOW

    def at(x: float, share: float) -> tuple[float, float]:
        along = (log2(x) - low) / (high - low) if high > low else 0.5
        return LEFT + 8 + along * (right - LEFT - 8), ground - share / most * (ground - ABOVE)

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = at(sizes[0][0], share)[1]
        parts.append(f'<path class="{"limit" if share == 1 else "rule"}" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(_text(LEFT - 4, y + 4, f"{share:g}", "end"))
    every = -(-len(sizes) // 5)  # labels that fit
    for place, (x, words) in enumerate(sizes):
        if place % every == 0:
            anchor = "end" if place and place == len(sizes) - 1 else "middle" if place else "start"
            parts.append(_text(at(x, 0)[0], HEIGHT - 6, words.rpartition("=")[2], anchor))
    for number, line in lines.items():
        points = [at(x, share) for x, _, share in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path class="line s{number}" d="M{path}"/>')
        marks = "".join(f"M{x:.1f} {y:.1f}{mark(number)}" for x, y in points)
        parts.append(f'<path class="mark s{number}" d="{marks}"/>')
    return _svg(parts, HEIGHT, told)


def key(number: int, name: str) -> str:
    """A series' mark and its name, for the list below a plot."""
    drawn = f'<path class="mark s{number}" d="M0 0{mark(number)}"/>'
    picture = f'<svg viewBox="-6 -6 12 12" aria-hidden="true">{drawn}</svg>'
    return f'<span class="key">{picture}{escape(name)}</span>'


def mark(number: int) -> str:
    return MARKS[number % len(MARKS)]


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"/>'


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(parts: Sequence[str], height: float, told: str) -> str:
    box = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    return f'<svg class="plot" {box} role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'

"""A page with a roofline and a row for each kernel, all in one file. Finished: nothing is to be done here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from profiler import Kernel

LIMITERS = ("memory", "compute", "uncoalesced", "too little parallelism", "spills")
WIDTH, HEIGHT, EDGE = 760, 420, 60
INTENSITY, SPEED = (0.01, 10_000.0), (0.01, 2_000.0)  # FLOP a byte and TFLOP/s that the plot shows
STYLE = "body{font:16px sans-serif;margin:2em} td,th{padding:.2em .8em;text-align:right}"


@dataclass(frozen=True)
class Row:
    """A kernel, and what `read_report` says of it."""

    kernel: Kernel
    gb_s: int
    percent: int
    limiter: int


def page(rows: Sequence[Row], dram_peak: float, flops_peak: float) -> str:
    """HTML that needs nothing else.

    Args:
        dram_peak: GB/s.
        flops_peak: TFLOP/s of the units that the kernels use.
    """
    head = "".join(f"<th>{word}</th>" for word in ("kernel", "µs", "GB/s", "% of peak", "limiter"))
    said = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    plot = _plot(rows, dram_peak, flops_peak)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Roofline</title><style>{STYLE}</style>'
        f"<h1>Roofline: {dram_peak:g} GB/s, {flops_peak:g} TFLOP/s</h1>{plot}"
        f"<table><tr>{head}</tr>{said}</table></html>\n"
    )


def _cells(row: Row) -> str:
    limiter = LIMITERS[row.limiter] + ("" if row.kernel.counted else " (no counters)")
    words = (row.kernel.name, f"{row.kernel.time_us:.1f}", row.gb_s, row.percent, limiter)
    return "".join(f"<td>{escape(str(word))}</td>" for word in words)


def _at(intensity: float, speed: float) -> tuple[float, float]:
    """Where a point lies, on two logarithmic axes."""

    def along(value: float, ends: tuple[float, float]) -> float:
        low, high = map(math.log10, ends)
        return (min(max(math.log10(max(value, ends[0])), low), high) - low) / (high - low)

    x = EDGE + along(intensity, INTENSITY) * (WIDTH - 2 * EDGE)
    return x, HEIGHT - EDGE - along(speed, SPEED) * (HEIGHT - 2 * EDGE)


def _plot(rows: Sequence[Row], dram_peak: float, flops_peak: float) -> str:
    bend = 1e3 * flops_peak / dram_peak  # FLOP a byte
    roof = [(INTENSITY[0], INTENSITY[0] * dram_peak / 1e3), (bend, flops_peak), (INTENSITY[1], flops_peak)]
    points = " ".join(f"{x:.0f},{y:.0f}" for x, y in (_at(*corner) for corner in roof))
    drawn = [f'<polyline points="{points}" fill="none" stroke="black" stroke-width="2"/>']
    for value in (0.01, 1, 100, 10_000):
        drawn.append(_text(_at(value, 0)[0], HEIGHT - EDGE + 18, f"{value:g}"))
    for value in (0.01, 1, 100):
        drawn.append(_text(EDGE - 24, _at(0, value)[1] + 5, f"{value:g}"))
    drawn.append(_text(WIDTH / 2, HEIGHT - 14, "FLOP for each byte of DRAM"))
    drawn.append(_text(EDGE, EDGE - 22, "TFLOP/s"))
    for row in rows:
        moved = row.kernel.bytes_read + row.kernel.bytes_written
        if row.kernel.flops and moved:
            x, y = _at(row.kernel.flops / moved, row.kernel.flops / row.kernel.time_us / 1e6)
            drawn.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="crimson"/>')
            drawn.append(_text(x, y - 9, row.kernel.name))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">{"".join(drawn)}</svg>'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" font-size="13">{escape(words)}</text>'

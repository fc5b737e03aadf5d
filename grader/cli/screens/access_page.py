"""The page of `track show`: who touches what, masks, strays and walks, in one file that opens offline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

from grader.course.catalog import Day

TEMPLATE = Path(__file__).with_name("picture.html")
# Viridis without its ends, which would drown on dark and on white paper: dark is first, light is last.
RAMP = ("#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26")
KINDS = ("touched", "strays", "masked")
LANES = {"strays": "stray", "masked": "left"}  # how many there are
WRAPS = (64, 128, 256, 512)  # elements in a row of a vector's picture: the narrowest that is not tall
ROWS = 128  # of them, from which on it is wider instead
CELLS = 1 << 18  # of a tensor, that are drawn
WIDE = 4096  # cells in a row, that are drawn
MARGIN = 32  # cells beside a row, that are drawn if the row is not longer
REACH = 1024  # elements beside a tensor, to which its runs are cut
GROUP = 4  # rows between two gaps, at least

Json = dict[str, Any]
Run = Sequence[int]  # first element, count
Row = tuple[int, int, int]  # row, first column, count
Box = tuple[int, int, int, int]  # x, y, width, height, in cells


def page(day: Day, source: Sequence[str], parts: list[Json]) -> str:
    """The whole page of `parts`, from judge/inspection/access_trace.py, beside the lines of the file."""
    launches = [_launch(part, launch) for part in parts for launch in part["launches"]]
    # In a script element only what begins with `<` means anything to HTML.
    data = json.dumps({"launches": launches, "source": list(source), "ramp": RAMP}).replace("<", "\\u003c")
    before, after = TEMPLATE.read_text(encoding="utf-8").split("{{data}}")
    return before.replace("{{title}}", escape(day.heading)) + data + after


def _launch(part: Json, launch: Json) -> Json:
    """One launch, its accesses on paper."""
    sheets = [Sheet.of(launch, name) for name in launch["tensors"]]
    drawn = {sheet.name: iter(sheet.drawn) for sheet in sheets}
    steps = ([next(drawn[step["tensor"]]) for step in program["steps"]] for program in launch["programs"])
    return {
        "title": f"{part['entry']}() · {part['case']} · {launch['kernel']}",
        **{key: launch[key] for key in ("grid", "total", "findings")},
        "tensors": [{**launch["tensors"][sheet.name], **sheet.data()} for sheet in sheets if sheet.steps],
        "programs": [{**program, "steps": next(steps)} for program in launch["programs"]],
    }


@dataclass(frozen=True)
class Sheet:
    """A tensor as it lies in memory, on paper: a row of the picture is a row of the tensor.

    Args:
        columns: elements of memory from one row to the next.
        width: of these, the tensor's own.
        whole: elements of memory from its first to its last.
        group: rows after which a gap is left, since the next outer slice begins; 0 for none.
        vector: whether its rows are only where we wrap it.
        plain: whether memory has the elements in the order of their indices.
        steps: the accesses to it, program by program.
    """

    name: str
    columns: int
    width: int
    whole: int
    group: int
    vector: bool
    plain: bool
    steps: list[Json]

    rows = property(lambda self: -(-self.whole // self.columns))
    alike = property(lambda self: self.columns if self.vector else 0)  # what is drawn on one scale

    @classmethod
    def of(cls, launch: Json, name: str) -> Sheet:
        """The sheet of one tensor of a launch."""
        shape, stride = (launch["tensors"][name][key] for key in ("shape", "stride"))
        steps = [s for program in launch["programs"] for s in program["steps"] if s["tensor"] == name]
        # A side of 1 goes nowhere, a stride of 0 repeats an element.
        sides = [(step, n) for step, n in zip(stride, shape, strict=True) if n > 1]
        plain = all(step == prod(n for _, n in sides[i + 1 :]) for i, (step, _) in enumerate(sides))
        axes = sorted(side for side in sides if side[0])
        whole = sum((n - 1) * step for step, n in axes) + 1 if all(shape) else 0
        if len(axes) < 2:
            wrap = next((wide for wide in WRAPS if whole <= ROWS * wide), WRAPS[-1])
            return cls(name, wrap, wrap, whole, 0, True, plain, steps)
        (inner, n), (pitch, _), *outer = axes
        groups = (step // pitch for step, _ in outer if step % pitch == 0)
        group = next((rows for rows in groups if rows >= GROUP), 0)
        return cls(name, pitch, min((n - 1) * inner + 1, pitch), whole, group, False, plain, steps)

    def _in_memory(self, runs: Iterable[Run]) -> Iterator[Row]:
        """Runs, row by row, as memory goes."""
        for first, count in runs:
            while count > 0:
                row, column = divmod(first, self.columns)
                taken = min(count, self.columns - column)
                yield row, column, taken
                first, count = first + taken, count - taken

    def _masked(self, step: Json) -> Iterator[Row]:
        """Where masked lanes belong: what a row's block has beyond the row lies beside it."""
        ends = set() if self.vector else self._ends(step["touched"])
        for first, count in step["masked"]:
            row, column = divmod(first, self.columns)
            if first in ends and count < self.columns:
                yield row - 1, self.columns, count
            elif column and count <= self.columns and not self.vector:
                yield row, column, count
            else:
                yield from self._in_memory([(first, count)])

    def _ends(self, runs: Iterable[Run]) -> set[int]:
        """Where rows begin before which an element is touched."""
        size = self.columns
        return {e for first, n in runs for e in range((first // size + 1) * size, first + n + 1, size)}

    @cached_property
    def bands(self) -> list[tuple[int, int, int]]:
        """The rows that are drawn: y, first row, how many; between bands is a gap."""
        outside = [row for s in self.steps for row, *_ in (*self._in_memory(s["strays"]), *self._masked(s))]
        low, high = min([0, *outside]), max([0, self.rows - 1, *outside]) + 1
        keep = max(CELLS // min(self.columns, WIDE), 1)
        cuts, skipped = set(range(0, self.rows, self.group or high)[1:]), range(0)
        if self.rows > keep:  # as of the programs, the first are drawn and a few of the last
            skipped = range(keep - keep // 4, self.rows - keep // 4)
            cuts |= {skipped.start, skipped.stop}
        bands, y = [], 0
        for top, bottom in pairwise(sorted({low, high} | cuts)):
            if top not in skipped:
                bands.append((y, top, bottom - top))
                y += bottom - top + 1
        return bands

    @cached_property
    def _ys(self) -> dict[int, int]:
        """Where each row is drawn."""
        return {first + i: y + i for y, first, count in self.bands for i in range(count)}

    def _boxes(self, rows: Iterable[Row]) -> list[Box]:
        """Rows of cells as boxes on the paper; equal ones below each other are one."""
        heights: dict[tuple[int, int, int], int] = {}  # by left, right and y
        growing: dict[tuple[int, int, int], int] = {}  # y by left, right and what y would come next
        margin = max(self.columns, MARGIN)
        for row, column, count in sorted(rows):
            left, right = max(column, -margin), min(column + count, self.columns + margin, WIDE)
            y = self._ys.get(row)
            if y is not None and left < right:
                top = growing.pop((left, right, y), y)
                heights[left, right, top] = y + 1 - top
                growing[left, right, y + 1] = top
        return [(left, y, right - left, height) for (left, right, y), height in heights.items()]

    @cached_property
    def drawn(self) -> list[Json]:
        """The accesses, with boxes for runs, places for lanes, and whether some are not on the paper."""
        return [self._drawn(step) for step in self.steps]

    def _drawn(self, step: Json) -> Json:
        rows = (self._in_memory(step["touched"]), self._in_memory(step["strays"]), self._masked(step))
        places = dict(zip(KINDS, map(set, rows), strict=True))
        boxes = {kind: self._boxes(found) for kind, found in places.items()}
        unseen = {kind: self._is_cut(step, kind, places[kind], boxes[kind]) for kind in LANES}
        return {**step, **boxes, "unseen": unseen, "lanes": [self._place(lane) for lane in step["lanes"]]}

    def _is_cut(self, step: Json, kind: str, places: set[Row], boxes: list[Box]) -> bool:
        """Whether lanes of that kind lie beyond the runs that were kept of them, or off the paper."""
        runs, lanes = step[kind], int(step[LANES[kind]])
        if runs and runs[0][0] > -REACH and sum(runs[-1]) < self.whole + REACH:
            lanes = min(lanes, sum(count for *_, count in places))  # those that share a place count once
        return sum(width * height for _, _, width, height in boxes) < lanes

    def _place(self, lane: int | None) -> tuple[int, int] | None:
        y = None if lane is None else self._ys.get(lane // self.columns)
        return None if lane is None or y is None else (min(lane % self.columns, WIDE), y)

    def outline(self) -> list[list[tuple[int, int]]]:
        """Around the tensor itself: a polygon for each band; a vector's last row may end early."""
        found, right = [], min(self.width, WIDE)
        for y, first, count in self.bands:
            top, low = y + max(first, 0) - first, y + min(first + count, self.rows) - first
            if top < low:
                end = min(self.whole - (low - y + first - 1) * self.columns, right)
                wide = right if low - top > 1 else end
                found.append([(0, top), (wide, top), (wide, low - 1), (end, low - 1), (end, low), (0, low)])
        return found

    def notes(self) -> list[str]:
        """What has to be known to read the picture."""
        rows = sum(min(first + count, self.rows) - max(first, 0) for _, first, count in self.bands)
        cells = min(rows * min(self.columns, WIDE), self.whole)
        long = [f"{self.columns} a row"] * (self.vector and self.whole > self.columns)
        cut = [f"{cells:,} of its {self.whole:,} elements are drawn"] * (cells < self.whole)
        return [*long, *["as it lies in memory"] * (not self.plain), *cut]

    def data(self) -> Json:
        """The tensor's part of the page; between `left` and `right` are all margins."""
        boxes = [box for step in self.drawn for kind in KINDS for box in step[kind]]
        return {
            **{key: getattr(self, key) for key in ("name", "columns", "whole", "bands", "alike")},
            "notes": self.notes(), "outline": self.outline(),
            "left": min([0, *(x for x, *_ in boxes)]),
            "right": max([min(self.width, WIDE, self.whole), *(x + width for x, _, width, _ in boxes), 1]),
            "height": self.bands[-1][0] + self.bands[-1][2],
        }  # fmt: skip

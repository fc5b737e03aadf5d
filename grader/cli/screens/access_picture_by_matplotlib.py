"""A still picture of what `track show` shows, by matplotlib: for slides, notes and paper."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.cli.screens.access_picture import RAMP, Box, Json, Sheet
from grader.course.catalog import Day
from grader.course.setup.doctor import PIP
from grader.errors import TrackError

CELL, WIDEST, TALLEST = 0.12, 5.0, 8.0  # inches of a cell's side, and of the sides of a tensor
LINE, GAP = 0.22, 0.4  # inches of a line of text, and between panels
DIGIT = 0.09  # inches of its width
KEY = "hatched: masked out · red: outside, and not masked out · split: touched by several programs"
INK, DIM, BODY, RED = "#1d2126", "#8a94a1", "#e6eaef", "#d92d33"


def draw(target: Path, day: Day, source: Sequence[str], parts: list[Json]) -> None:
    """Writes a picture in the format that the target's suffix names: a row for each launch of `parts`.

    Raises:
        TrackError: matplotlib is missing.
    """
    try:
        plot: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        problem = "A picture in this format is drawn by matplotlib, which is not installed."
        raise TrackError(problem, f"{PIP} matplotlib") from None
    figure = plot.Figure(
        figsize=(1, 1)
    )  # one inch, so that places are inches; saving it takes in what lies outside
    figure.text(0, 0, day.heading, size=14, weight="bold", color=INK, parse_math=False)
    sheets = [sheet for part in parts for launch in part["launches"] for sheet in _sheets(launch)]
    sides = {
        which: _side([one for one in sheets if one.alike == which]) for which in {s.alike for s in sheets}
    }
    y = -LINE
    for part in parts:
        for launch in part["launches"]:
            for line in _caption(part, launch, source):
                y -= LINE
                figure.text(0, y, line, size=10, color=INK, parse_math=False)
            y = _launch(figure, y, launch, sides) - LINE
    figure.text(0, y, KEY, size=8, color=INK, parse_math=False)
    maker = "Software" if target.suffix.lower() == ".png" else "Creator"
    figure.savefig(target, dpi=150, bbox_inches="tight", pad_inches=0.3, metadata={maker: "track show"})


def _caption(part: Json, launch: Json, source: Sequence[str]) -> Iterator[str]:
    """The title of a launch, and what was found in it."""
    programs = f"{launch['total']:,} program{'s' * (launch['total'] > 1)}"
    yield f"{part['entry']}() · {part['case']} · {launch['kernel']} · {programs}"
    for finding in launch["findings"]:
        yield f"✗ {finding['says']}"
        if 0 < finding["line"] <= len(source):
            yield f"    line {finding['line']}: {source[finding['line'] - 1].strip()}"


def _sheets(launch: Json) -> list[Sheet]:
    """Its tensors that somebody touches."""
    return [sheet for sheet in (Sheet.of(launch, name) for name in launch["tensors"]) if sheet.steps]


def _side(sheets: Sequence[Sheet]) -> float:
    """Inches of a cell's side, one for all of these, so that equal tensors look equal."""
    papers = [sheet.data() for sheet in sheets]
    widest = max(paper["right"] - paper["left"] for paper in papers)
    return min(CELL, WIDEST / float(widest), TALLEST / float(max(paper["height"] for paper in papers)))


def _launch(figure: Any, y: float, launch: Json, sides: dict[int, float]) -> float:
    """Draws a launch's tensors below `y`, and says where they end."""
    x, lowest = 0.0, y
    for sheet in _sheets(launch):
        paper, side = sheet.data(), sides[sheet.alike]
        width, height = paper["right"] - paper["left"], paper["height"]
        low = y - 2 * LINE - height * side
        axes = figure.add_axes((x, low, width * side, height * side))
        axes.set(xlim=(paper["left"], paper["right"]), ylim=(height, 0))
        axes.set_axis_off()
        title = " · ".join([f"{sheet.name} {launch['tensors'][sheet.name]['shape']}", *paper["notes"]])
        axes.set_title(title, size=9, loc="left", color=INK, parse_math=False)
        _panel(axes, sheet, launch["programs"], side)
        x, lowest = x + max(width * side, 0.8 * len(title) * DIGIT) + GAP, min(lowest, low)
    return lowest


def _panel(axes: Any, sheet: Sheet, programs: list[Json], side: float) -> None:
    """One tensor: who touches what, of several programs the first and the last."""
    paper = sheet.data()
    owners = [i for i, one in enumerate(programs) for step in one["steps"] if step["tensor"] == sheet.name]
    first = np.full((paper["height"], paper["right"] - paper["left"]), -1)
    last = first.copy()
    for owner, step in zip(owners, sheet.drawn, strict=True):
        for x, y, width, height in step["touched"]:
            cells = slice(y, y + height), slice(x - paper["left"], x - paper["left"] + width)
            first[cells] = np.where(first[cells] < 0, owner, first[cells])
            last[cells] = owner
    corners = {
        kind: [_corners(box) for step in sheet.drawn for box in step[kind]] for kind in ("masked", "strays")
    }
    _fill(axes, paper["outline"], facecolor=BODY)
    _fill(axes, corners["masked"], facecolor="white", edgecolor=DIM, hatch="//////", linewidth=0)
    ramp: Any = importlib.import_module("matplotlib.colors").LinearSegmentedColormap.from_list(
        "programs", RAMP
    )
    shade = ramp.with_extremes(under=(0, 0, 0, 0))
    where = (paper["left"], paper["right"], paper["height"], 0)
    look = {"cmap": shade, "vmin": 0, "vmax": max(len(programs) - 1, 1), "extent": where, "aspect": "auto"}
    axes.imshow(last, interpolation="nearest", zorder=2, **look)
    shared = [(int(x) + paper["left"], int(y)) for y, x in np.argwhere(first != last)]
    colours = [shade(first[y, x - paper["left"]] / look["vmax"]) for x, y in shared]
    _fill(axes, [[(x, y), (x + 1, y), (x, y + 1)] for x, y in shared], facecolor=colours, zorder=2)
    _fill(axes, corners["strays"], facecolor=RED, edgecolor="white", hatch="xxxx", linewidth=0)
    _fill(axes, paper["outline"], facecolor="none", edgecolor=INK, linewidth=1.5, clip_on=False, zorder=3)
    _numbers(axes, zip(owners, sheet.drawn, strict=True), programs, side)


def _fill(axes: Any, polygons: Iterable[Any], **style: Any) -> None:
    collections: Any = importlib.import_module("matplotlib.collections")
    axes.add_collection(collections.PolyCollection(list(polygons), **style), autolim=False)


def _corners(box: Box) -> list[tuple[int, int]]:
    x, y, width, height = box
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def _numbers(axes: Any, steps: Iterable[tuple[int, Json]], programs: list[Json], side: float) -> None:
    """Each program's number on the largest box of its first access, where there is room."""
    places: dict[Box, list[int]] = {}
    seen: set[int] = set()
    for owner, step in steps:
        if step["touched"] and owner not in seen:
            seen.add(owner)
            largest = max(step["touched"], key=lambda box: int(box[2] * box[3]))
            places.setdefault(largest, []).append(programs[owner]["number"])
    for (x, y, width, height), numbers in places.items():
        text = ", ".join(map(str, numbers)) if len(numbers) < 4 else f"{numbers[0]}…{numbers[-1]}"
        if len(text) * DIGIT <= width * side and height * side >= CELL:
            middle = {"x": x + width / 2, "y": y + height / 2, "ha": "center", "va": "center_baseline"}
            dark = {"boxstyle": "round,pad=0.15", "facecolor": INK, "alpha": 0.6, "linewidth": 0}
            axes.text(s=text, size=8, weight="bold", color="white", bbox=dark, zorder=4, **middle)

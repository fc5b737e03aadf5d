"""A plot of a bench by matplotlib: share of what this GPU could do against size, a line a provider."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import cycle
from math import prod
from pathlib import Path
from typing import Any

from grader.cli.benchmark.results import Machine, Result
from grader.cli.screens.bench import label, providers, series
from grader.course.learner.workspace import writing
from grader.course.setup.doctor import PIP
from grader.errors import TrackError, pasted

FORMATS = (".png", ".svg", ".pdf")
WIDTH, HEIGHT = 6.4, 3.6  # inches of a plot
COLOURS = {"yours": "#d9480f", "ours": "#1c6fb8", "fast": "#4c9be0", "eager": "#6b7280", "compile": "#2b8a3e"}
OTHERS = (
    "#9c36b5",
    "#e8a800",
    "#0ca678",
    "#e64980",
    "#5f3dc4",
    "#495057",
)
MARKS = "svD^PX<>"  # beside colours: some readers see few of them, and lines lie over one another


def draw(target: Path, results: Sequence[Result], machine: Machine) -> None:
    """Writes a plot for each function, pass and dtype that has two sizes or more, one below the other.

    Raises:
        TrackError: matplotlib is missing, the format is none of FORMATS, or there is nothing to plot.
        CannotWrite: the file cannot be written.
    """
    if target.suffix.lower() not in FORMATS:
        raise TrackError(
            f"{target} is no picture.", f"track bench --plot {pasted(target.with_suffix('.png'))}"
        )
    try:
        plot: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        problem = "A plot is drawn by matplotlib, which is not installed."
        raise TrackError(problem, f"{PIP} matplotlib") from None
    lines = curves(results)
    if not lines:
        raise TrackError("There is nothing to plot: each dtype has one size alone.", "track bench DAY --all")
    figure = plot.Figure(figsize=(WIDTH, HEIGHT * len(lines)), layout="constrained")
    every = figure.subplots(len(lines), squeeze=False)[:, 0]
    for axes, (title, of_each) in zip(every, lines.items(), strict=True):
        _panel(axes, f"{title} · {machine.gpu}", of_each)
    with writing(target):
        figure.savefig(target, dpi=150)


def curves(results: Sequence[Result]) -> dict[str, dict[str, list[tuple[float, str, float]]]]:
    """By title and provider: elements of the sizes that grow, their label, and the share; small ones first.

    A title with one size alone is no curve.
    """
    found: dict[str, dict[str, list[tuple[float, str, float]]]] = {}
    for title, group in series(results).items():
        for dtype in dict.fromkeys(result.point.dtype for result in group):
            of_each = {}
            for name in providers(group):
                own = [
                    r
                    for r in group
                    if (r.provider, r.point.dtype) == (name, dtype) and r.us and not r.problem
                ]
                of_each[name] = sorted(
                    (float(prod(r.point.sizes.values())), label(r.point), r.of_limit) for r in own
                )
            if max(map(len, of_each.values())) > 1:
                found[f"{title} · {dtype}"] = of_each
    return found


def _panel(axes: Any, title: str, of_each: dict[str, list[tuple[float, str, float]]]) -> None:
    """One plot; each size stands under its mark."""
    ticks = sorted({(x, words) for line in of_each.values() for x, words, _ in line})
    places = {x: place for place, (x, _) in enumerate(ticks)}
    colours, marks = cycle(OTHERS), cycle(MARKS)
    for name, line in of_each.items():
        bold = name in ("yours", "ours")
        own = {"linewidth": 2.2, "zorder": 3, "marker": "o"} if bold else {"marker": next(marks)}
        colour = COLOURS.get(name) or next(colours)
        at, shares = [places[x] for x, _, _ in line], [share for _, _, share in line]
        axes.plot(at, shares, **{"linewidth": 1.2, "label": name, "color": colour, **own})
    axes.axhline(1.0, color="#adb5bd", linestyle="--", linewidth=1)
    names, labels = _sizes([words for _, words in ticks])
    axes.set_xticks(range(len(ticks)), labels, fontsize=8)
    axes.set_xlabel(names)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of the limit")
    axes.set_title(title, fontsize=10, loc="left", parse_math=False)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))  # beside: inside it hid points


def _sizes(labels: list[str]) -> tuple[str, list[str]]:
    """What all of `m=n=512`, `m=n=1024` have before their numbers, and these; else no name, and all of it."""
    split = [words.rpartition("=") for words in labels]
    names = {name for name, _, _ in split}
    return (names.pop(), [number for _, _, number in split]) if len(names) == 1 else ("", labels)

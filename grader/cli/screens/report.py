"""The page of `track report`: a learner's progress in one file that opens offline, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import log2
from pathlib import Path

from grader.cli.benchmark.results import Result
from grader.cli.screens.bench import ORDER, curves
from grader.cli.screens.progress import NEW, SHOWN
from grader.cli.screens.speed_rows import duration
from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.course.learner.journal import Progress, Record

TEMPLATE = Path(__file__).with_name("report.html")
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
SIGNS = {"passed": "✓", "running": "▸", "new": "·"}


def page(progress: Mapping[Key, Progress], bench: Sequence[Result]) -> str:
    """The whole page; `bench` is what `track bench` measured last, on one GPU."""
    parts = [*_summary(progress), *_sections(progress), *_bench(bench)]
    return _page("Triton Track: your progress", parts, "track report")


def plots(results: Sequence[Result]) -> str:
    """A page with the plots of one bench alone; empty where each dtype has one size."""
    parts = list(_bench(results))
    return _page("Triton Track: a bench", parts, "track bench") if parts else ""


def _page(title: str, parts: Sequence[str], maker: str) -> str:
    series = "\n  ".join(
        f".mark.s{n} {{ fill: var(--s{n}); stroke: var(--s{n}); }} .line.s{n} {{ stroke: var(--s{n}); }}"
        for n in range(len(MARKS))
    )
    text = TEMPLATE.read_text(encoding="utf-8")
    body = "\n".join([f"<h1>{title}</h1>", *parts])
    for name, words in {"title": title, "maker": maker, "series": series, "body": body}.items():
        text = text.replace(f"{{{{{name}}}}}", words)
    return text


def _summary(progress: Mapping[Key, Progress]) -> Iterator[str]:
    days = [progress.get(day.key, NEW) for day in catalog.days()]
    extras = [progress.get(extra.key, NEW) for extra in catalog.extras()]
    done = [one for one in days if one.done]
    gradings = sum(one.gradings for one in (*days, *extras))
    tiles = [
        (f"{len(done)} of {len(days)}", "days done"),
        (str(sum(one.on_gpu for one in done)), "of them on a GPU"),
        (str(sum(one.done for one in extras)), f"of {len(extras)} extras done"),
        (str(gradings), "grading" if gradings == 1 else "gradings"),
    ]
    yield '<div class="tiles">' + "".join(f"<div><b>{n}</b>{words}</div>" for n, words in tiles) + "</div>"


def _sections(progress: Mapping[Key, Progress]) -> Iterator[str]:
    """The weeks, then the packs of extras that were begun."""
    if any(one.speed for one in progress.values()):
        yield "<h2>Speeds</h2>"
        yield (
            '<p class="dim">A bar is your last speed: full if a GPU measured it, hollow if it is '
            "predicted. The heavy line is what the day asks for.</p>"
        )
    for number, title in catalog.weeks().items():
        days = [day for day in catalog.days() if day.week == number]
        yield f"<h2>Week {number} · {escape(title)}</h2>"
        yield _days(days, progress)
    for title, extras in catalog.packs().items():
        begun = [extra for extra in extras if progress.get(extra.key, NEW).state != "new"]
        if begun:
            yield f"<h2>Extras · {escape(title)}</h2>"
            yield _days(begun, progress)


def _days(days: Sequence[Day], progress: Mapping[Key, Progress]) -> str:
    return f'<ul class="days">{"".join(_day(day, progress.get(day.key, NEW)) for day in days)}</ul>'


def _day(day: Day, progress: Progress) -> str:
    kind = SHOWN[progress.state]
    often = f"{progress.gradings} grading{'s' * (progress.gradings != 1)}" if progress.gradings else ""
    state = "" if progress.state == "new" else f"{progress.state}<br><small>{often}</small>"
    cells = [SIGNS[kind], f"{day.label} {escape(day.title)}", state, _speed(progress.speed or {})]
    return f'<li class="{kind}">' + "".join(f"<span>{cell}</span>" for cell in cells) + "</li>"


def _speed(speed: Record) -> str:
    """The last speed beside what is needed; nothing where there is none, or a hand has changed it."""
    us, ratio, kind = (speed.get(name) for name in ("yours_us", "ratio", "evidence"))
    if not (
        isinstance(us, int | float) and isinstance(ratio, int | float) and kind in ("measured", "predicted")
    ):
        return ""
    told = f"{duration(us)} {kind}, {ratio:.2f}× the speed that is needed"
    return f"{_bullet(ratio, kind, told)}<small>{told}</small>"


def _bench(results: Sequence[Result]) -> Iterator[str]:
    lines = curves(results)
    if not lines:
        return
    yield f"<h2>Benches on one {escape(results[0].gpu)}</h2>"
    yield '<p class="dim">Shares of what this GPU could do, the dashed line, against size.</p>'
    yield '<div class="plots">'
    for title, of_each in lines.items():
        drawn = {name: line for name, line in of_each.items() if line}
        numbers = {name: _series(name, drawn) for name in drawn}
        keys = "".join(_key(number, name) for name, number in numbers.items())
        told = f"{title}: share of the limit, by {', '.join(drawn)}"
        plot = _curves({numbers[name]: line for name, line in drawn.items()}, told)
        heading = f"<h3>{escape(title)}</h3>"
        yield f"<figure>{heading}{plot}<figcaption>{keys}</figcaption></figure>"
    yield "</div>"


def _series(name: str, drawn: Mapping[str, object]) -> int:
    """Its number, which is the same in every plot for those that most plots have."""
    if name in ORDER:
        return ORDER.index(name)
    return len(ORDER) + [one for one in drawn if one not in ORDER].index(name)


def _bullet(ratio: float, kind: str, told: str) -> str:
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


def _curves(lines: Mapping[int, Curve], told: str) -> str:
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
        marks = "".join(f"M{x:.1f} {y:.1f}{_mark(number)}" for x, y in points)
        parts.append(f'<path class="mark s{number}" d="{marks}"/>')
    return _svg(parts, HEIGHT, told)


def _key(number: int, name: str) -> str:
    """A series' mark and its name, for the list below a plot."""
    drawn = f'<path class="mark s{number}" d="M0 0{_mark(number)}"/>'
    picture = f'<svg viewBox="-6 -6 12 12" aria-hidden="true">{drawn}</svg>'
    return f'<span class="key">{picture}{escape(name)}</span>'


def _mark(number: int) -> str:
    return MARKS[number % len(MARKS)]


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"/>'


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(parts: Sequence[str], height: float, told: str) -> str:
    box = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    return f'<svg class="plot" {box} role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'

"""The page of `track report`: a learner's progress in one file that opens offline, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from grader.cli.benchmark.results import Result
from grader.cli.screens import charts
from grader.cli.screens.bench import ORDER, curves
from grader.cli.screens.progress import NEW, SHOWN
from grader.cli.screens.speed_rows import duration
from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.course.learner.journal import Progress, Record

TEMPLATE = Path(__file__).with_name("report.html")
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
        for n in range(len(charts.MARKS))
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
    return f"{charts.bullet(ratio, kind, told)}<small>{told}</small>"


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
        keys = "".join(charts.key(number, name) for name, number in numbers.items())
        told = f"{title}: share of the limit, by {', '.join(drawn)}"
        plot = charts.curves({numbers[name]: line for name, line in drawn.items()}, told)
        heading = f"<h3>{escape(title)}</h3>"
        yield f"<figure>{heading}{plot}<figcaption>{keys}</figcaption></figure>"
    yield "</div>"


def _series(name: str, drawn: Mapping[str, object]) -> int:
    """Its number, which is the same in every plot for those that most plots have."""
    if name in ORDER:
        return ORDER.index(name)
    return len(ORDER) + [one for one in drawn if one not in ORDER].index(name)

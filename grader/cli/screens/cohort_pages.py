"""The pages of a cohort: one HTML file each, which opens offline. Whatever somebody handed in is escaped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

from grader.cli.screens.speed_rows import duration
from grader.course import catalog
from grader.grading.cohort import report
from grader.grading.cohort.report import LISTED, OURS
from grader.grading.cohort.store import troubles
from grader.visible import visible

PAGE = Path(__file__).with_name("cohort.html")
# A sign for each status: colour never says it alone.
SIGNS = {
    "passed": "✓",
    "failed": "✗",
    "slow": "slow",
    "crashed": "✗!",
    "timeout": "time",
    "inconclusive": "?",
    "unstarted": "–",
    "waiting": "…",
}
MEANT = (
    "✓ passed · ✗ wrong · ✗! crashed · slow: right, but too slow · time: did not end · ? too noisy to tell · "
    "– untouched · … not graded yet"
)
SHOWN = 200  # troubles on a page


def of_class(db: sqlite3.Connection) -> str:
    """Who is where, which day stops most, which mistakes are commonest, what could not be graded."""
    days, found = report.by_day(db), report.grid(db)
    handed_in, passed = sum(day.handed_in for day in days), sum(day.passed for day in days)
    learners = db.execute("SELECT count(DISTINCT id) FROM submission").fetchone()[0]
    intro = f"<p>{learners:,} learners, {handed_in:,} files handed in, {passed:,} of them passed.</p>"
    parts = [intro, _stops(days), _mistakes(db), _grid(days, found, learners), _alike(db), _troubles(db)]
    return _page("The class", parts)


def leaderboard(db: sqlite3.Connection) -> str:
    """The best learners, and the fastest pass of each day."""
    standings = report.standings(db)
    rows = [
        (str(place), one.id, f"{one.passed} of {one.handed_in}", f"{one.score:.3f}")
        for place, one in enumerate(standings, 1)
    ]
    said = "By days passed, then by the sum of scores: each from 0 to 1, cases first, then speed."
    said += f" The first {LISTED:,}." if len(rows) == LISTED else ""
    fastest = [(_day(one.day), one.id, duration(one.yours_us), one.evidence) for one in report.fastest(db)]
    heads = ("", "learner", "passed", "score")
    parts = [f'<p class="dim">{said}</p>', _table(heads, rows, numbers=(0, 2, 3))]
    if fastest:
        parts += ["<h2>The fastest pass of each day</h2>"]
        parts += [_table(("day", "learner", "time", "evidence"), fastest, numbers=(2,))]
    return _page("Leaderboard", parts)


def _stops(days: Sequence[report.OfDay]) -> str:
    rows = []
    for one in sorted(days, key=lambda one: -one.stopped / one.handed_in):
        share = one.stopped / one.handed_in
        bar = f'<meter value="{share:.3f}" low="0.25" high="0.5" optimum="0"></meter> {share:.0%}'
        counts = (one.handed_in, one.passed, one.stopped, one.slow, one.unstarted, one.waiting)
        cells = "".join(f'<td class="n">{count:,}</td>' for count in counts)
        rows.append(f"<tr><td>{escape(_day(one.day))}</td>{cells}<td>{bar}</td></tr>")
    heads = ("handed in", "passed", "stopped", "too slow", "untouched", "not graded")
    head = "<th>day</th>" + "".join(f'<th class="n">{one}</th>' for one in heads) + "<th>stopped</th>"
    told = "Stopped: tried, and not passed yet; too slow is among them."
    return f"<h2>Which day stops most</h2>{_framed(head, rows, told)}"


def _mistakes(db: sqlite3.Connection) -> str:
    rows = [(f"{one.learners:,}", one.days, one.diagnosis) for one in report.mistakes(db)]
    if not rows:
        return ""
    return "<h2>The commonest mistakes</h2>" + _table(("learners", "days", "diagnosis"), rows, numbers=(0,))


def _grid(days: Sequence[report.OfDay], found: dict[str, dict[str, str]], learners: int) -> str:
    keys = [one.day for one in days]
    head = "<th>learner</th>" + "".join(
        f'<th title="{escape(_day(key))}">{escape(catalog.find(key).label)}</th>' for key in keys
    )
    rows = []
    for id, cells in found.items():
        marks = (cells.get(key, "") for key in keys)
        row = "".join(f'<td class="{one}" title="{one}">{SIGNS.get(one, "")}</td>' for one in marks)
        rows.append(f"<tr><th>{escape(visible(id))}</th>{row}</tr>")
    told = MEANT + (f". The first {LISTED:,} of {learners:,} learners." if learners > LISTED else "")
    return f"<h2>Who is where</h2>{_framed(head, rows, told, kind='grid')}"


def _alike(db: sqlite3.Connection) -> str:
    rows = [(_day(one.day), " = ".join(one.ids)) for one in report.alike(db)]
    if not rows:
        return ""
    told = (
        "The same code but for comments and layout. A hint to look, and no verdict: short days have few ways "
        f"to be right, and {OURS} can be read by all."
    )
    return f'<h2>Alike</h2><p class="dim">{told}</p>' + _table(("day", "learners"), rows)


def _troubles(db: sqlite3.Connection) -> str:
    found = troubles(db)
    if not found:
        return ""
    rows = [(one.where, one.problem) for one in found[:SHOWN]]
    more = f'<p class="dim">And {len(found) - SHOWN:,} more.</p>' if len(found) > SHOWN else ""
    return "<h2>What could not be graded</h2>" + _table(("where", "why"), rows) + more


def _day(key: str) -> str:
    return catalog.find(key).heading


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of texts, each escaped; the columns `numbers` are set right."""
    kinds = [' class="n"' if column in numbers else "" for column in range(len(heads))]
    head = "".join(f"<th{kind}>{escape(text)}</th>" for kind, text in zip(kinds, heads, strict=True))
    lines = []
    for row in rows:
        cells = (f"<td{kind}>{escape(visible(text))}</td>" for kind, text in zip(kinds, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return _framed(head, lines)


def _framed(head: str, rows: Sequence[str], told: str = "", kind: str = "") -> str:
    """A table that is moved sideways where the screen is narrower, and what it says above it."""
    said = f'<p class="dim">{escape(told)}</p>' if told else ""
    body = "\n".join(rows)
    table = f"<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody>"
    return f'{said}<div class="wide"><table class="{kind}">{table}</table></div>'


def _page(title: str, parts: Iterable[str]) -> str:
    return Template(PAGE.read_text(encoding="utf-8")).substitute(title=title, body="\n".join(parts))

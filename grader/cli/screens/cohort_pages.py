"""The pages of a cohort: one HTML file each, which opens offline. Whatever somebody handed in is escaped."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from grader.cli.screens.speed_rows import duration
from grader.cli.screens.terminal import counted
from grader.course import catalog
from grader.grading.cohort import report
from grader.grading.cohort.likeness import Alike
from grader.grading.cohort.report import LISTED, NOTHING, WORDS
from grader.grading.cohort.store import troubles
from grader.printable_names import visible
from grader.version import __version__

PAGE = Path(__file__).with_name("cohort.html")
# A sign for each status: colour never says it alone.
SIGNS = {"passed": "✓", "failed": "✗", "slow": "slow", "crashed": "✗!", "timeout": "time"}
SIGNS |= {"inconclusive": "?", "unstarted": "–", "waiting": "…"}
MEANT = " · ".join(f"{sign} = {WORDS[status]}" for status, sign in SIGNS.items())
SHOWN = 200  # troubles on a page
HINT = "A hint to look, and no verdict: short days have few ways to be right."


class Html(str):
    """A text that is HTML already."""


@dataclass(frozen=True)
class Report:
    """What the pages of one report have in common.

    Attributes:
        title: of the class; may be empty.
        date: of the report, to be read.
        absent: learners on the roster who handed in nothing.
        feedback: by learner and day the path of what they get back, from the class page on.
    """

    title: str
    date: str
    absent: Sequence[str] = ()
    feedback: Mapping[tuple[str, str], str] = field(default_factory=dict)
    alike: Sequence[Alike] = ()


def every(db: sqlite3.Connection, shared: Report) -> Iterator[tuple[str, str]]:
    """The pages of a report, with their paths."""
    yield "class.html", of_class(db, shared)
    yield "leaderboard.html", leaderboard(db, shared)
    for number, pair in enumerate(shared.alike, 1):
        yield f"alike/{number}.html", side_by_side(pair, shared)
    if shared.feedback:
        yield "feedback/index.html", feedback(shared)


def of_class(db: sqlite3.Connection, shared: Report) -> str:
    """Who is where, which day stops most, which mistakes are commonest, what could not be graded."""
    days, found = report.by_day(db), report.grid(db)
    handed_in, passed = sum(day.handed_in for day in days), sum(day.passed for day in days)
    learners = db.execute("SELECT count(DISTINCT id) FROM result").fetchone()[0]
    files = f"{counted(handed_in, 'file')} handed in, {passed:,} of them passed"
    intro = f"<p>{counted(learners, 'learner')}, {files}.</p>"
    grid = _grid(days, found, learners, shared)
    parts = [intro, _stops(days), _mistakes(db), grid, _alike(shared), _troubles(db)]
    return _page("The class", parts, shared)


def leaderboard(db: sqlite3.Connection, shared: Report) -> str:
    """The best learners, and the fastest pass of each day."""
    standings = report.standings(db)
    rows = [
        (f"{one.place:,}", one.id, f"{one.passed} of {one.handed_in}", f"{one.score:.3f}")
        for one in standings
    ]
    said = "By days passed, then by the sum of scores: each from 0 to 1, cases first, then speed."
    said += f" The first {LISTED:,}." if len(rows) == LISTED else ""
    fastest = [(_day(one.day), one.id, duration(one.yours_us), one.evidence) for one in report.fastest(db)]
    heads = ("", "learner", "passed", "score")
    parts = [f'<p class="dim">{said}</p>', _table(heads, rows, numbers=(0, 2, 3))]
    if fastest:
        parts += ["<h2>The fastest pass of each day</h2>"]
        parts += [_table(("day", "learner", "time", "evidence"), fastest, numbers=(2,))]
    return _page("Leaderboard", parts, shared)


def feedback(shared: Report) -> str:
    """The index of what learners get back; it lies in the folder `feedback`."""
    links = defaultdict[str, list[str]](list)
    for (id, day), path in shared.feedback.items():
        links[id].append(_link(f"../{path}", catalog.find(day).label))
    rows = [(id, Html(" ".join(days))) for id, days in links.items()]
    return _page("Feedback", [_table(("learner", "days"), rows)], shared, up="../")


def side_by_side(pair: Alike, shared: Report) -> str:
    """Two files that are alike; it lies in the folder `alike`."""
    columns = "".join(map(_side, pair.ids, pair.sources, pair.lines))
    said = f"{pair.share:.0%} of what the smaller file has of its own. {HINT}"
    parts = [f'<p class="dim">{said}</p>', f'<div class="pair">{columns}</div>']
    return _page(f"Alike · {pair.day.heading}", parts, shared, up="../")


def _side(ids: Sequence[str], source: bytes, alike: Collection[int]) -> str:
    lines = enumerate(map(escape, source.decode("utf-8", "replace").splitlines()), 1)
    marked = "\n".join(f"<mark>{line}</mark>" if number in alike else line for number, line in lines)
    return f"<div><h2>{escape(' = '.join(ids))}</h2><pre>{marked}</pre></div>"


def _stops(days: Sequence[report.OfDay]) -> str:
    rows = []
    for one in sorted(days, key=lambda one: -one.stopped / one.handed_in):
        share = one.stopped / one.handed_in
        bar = f'<meter value="{share:.3f}" low="0.25" high="0.5" optimum="0"></meter> {share:.0%}'
        counts = (one.handed_in, one.passed, one.stopped, one.slow, one.unstarted, one.waiting)
        cells = "".join(f'<td class="n">{count:,}</td>' for count in counts)
        rows.append(f"<tr><td>{escape(_day(one.day))}</td>{cells}<td>{bar}</td></tr>")
    heads = ("handed in", "passed", "not passed", "of these too slow", "untouched", "not graded")
    head = "<th>day</th>" + "".join(f'<th class="n">{one}</th>' for one in heads) + "<th>share</th>"
    told = "Not passed: tried, and not passed yet. The share is that of these."
    return f"<h2>Which day stops most</h2>{_framed(head, rows, told)}"


def _mistakes(db: sqlite3.Connection) -> str:
    rows = [(f"{one.learners:,}", one.days, one.diagnosis) for one in report.mistakes(db)]
    if not rows:
        return ""
    return "<h2>The commonest mistakes</h2>" + _table(("learners", "days", "diagnosis"), rows, numbers=(0,))


def _grid(
    days: Sequence[report.OfDay], found: dict[str, dict[str, str]], learners: int, shared: Report
) -> str:
    keys = [one.day for one in days]
    head = "<th>learner</th>" + "".join(
        f'<th title="{escape(_day(key))}">{escape(catalog.find(key).label)}</th>' for key in keys
    )
    rows = []
    for id, cells in (found | {id: {} for id in shared.absent}).items():
        row = "".join(_cell(cells.get(key, ""), shared.feedback.get((id, key))) for key in keys)
        rows.append(f"<tr><th>{escape(visible(id))}</th>{row}</tr>")
    told = MEANT + (f". The first {LISTED:,} of {learners:,} learners." if learners > LISTED else "")
    return f"<h2>Who is where</h2>{_framed(head, rows, told, kind='grid')}"


def _cell(status: str, feedback: str | None) -> str:
    sign, word = SIGNS.get(status, ""), WORDS.get(status, NOTHING)
    return f'<td class="{status}" title="{word}">{_link(feedback, sign) if feedback else sign}</td>'


def _alike(shared: Report) -> str:
    rows = []
    for number, one in enumerate(shared.alike, 1):
        who = " and ".join(" = ".join(ids) for ids in one.ids)
        rows.append((one.day.heading, _link(f"alike/{number}.html", who), f"{one.share:.0%}"))
    if not rows:
        return "<h2>Alike</h2><p>No two files of a day were found alike.</p>"
    told = f"By tokens, whatever names are called, without what the skeleton and our solution have. {HINT}"
    table = _table(("day", "learners", "alike"), rows, numbers=(2,))
    return f'<h2>Alike</h2><p class="dim">{told}</p>{table}'


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
    """A table of texts, each escaped unless it is HTML; the columns `numbers` are set right."""
    kinds = [' class="n"' if column in numbers else "" for column in range(len(heads))]
    head = "".join(f"<th{kind}>{escape(text)}</th>" for kind, text in zip(kinds, heads, strict=True))
    lines = []
    for row in rows:
        texts = (text if isinstance(text, Html) else escape(visible(text)) for text in row)
        cells = (f"<td{kind}>{text}</td>" for kind, text in zip(kinds, texts, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return _framed(head, lines)


def _framed(head: str, rows: Sequence[str], told: str = "", kind: str = "") -> str:
    """A table that is moved sideways where the screen is narrower, and what it says above it."""
    said = f'<p class="dim">{escape(told)}</p>' if told else ""
    body = "\n".join(rows)
    table = f"<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody>"
    return f'{said}<div class="wide"><table class="{kind}">{table}</table></div>'


def _link(path: str, text: str) -> Html:
    return Html(f'<a href="{escape(quote(path))}">{escape(text)}</a>')


def _page(title: str, parts: Iterable[str], shared: Report, up: str = "") -> str:
    """A page.

    Args:
        up: from its folder to that of the class page.
    """
    pages = [(f"{up}class.html", "The class"), (f"{up}leaderboard.html", "Leaderboard")]
    pages += [(f"{up}feedback/index.html", "Feedback")] if shared.feedback else []
    links = " · ".join(_link(path, name) for path, name in pages)
    about = escape(" · ".join(filter(None, (shared.title, shared.date, f"Triton Track {__version__}"))))
    body = "\n".join([f'<nav>{links}</nav><p class="dim">{about}</p>', *parts])
    return Template(PAGE.read_text(encoding="utf-8")).substitute(title=escape(title), body=body)

"""The pages of the site, as Markdown: those of the clone at their own places, and lists made of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Set
from pathlib import Path, PurePosixPath
from posixpath import normpath

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.hints import TIERS, read
from grader.version import REPOSITORY

FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
# A line of text, right below which a list begins. On GitHub `1.` begins one, `100.` does not.
ITEM = re.compile(r"^(?! *(?:[-*] |\d+\. |\|))(\S.*)\n(?=(?:[-*]|1\.) )", re.MULTILINE)
SOURCES = "## Where it is from"
FRAME = """\
??? example "Our solution, drawn: which elements each program reads and writes"

    <iframe src="{up}show/{stem}.html" loading="lazy" title="{heading}: who touches what"></iframe>

    [The picture alone]({up}show/{stem}.html)
"""


def pages(shown: Set[Day]) -> dict[str, str]:
    """Every page but the measured one, by its path in the site.

    Args:
        shown: the days whose picture lies in show/.
    """
    lessons = {f"days/{day.place}/README.md": day for day in catalog.course()}
    rooms = sorted(catalog.ROOT.glob("grader/*/**/README.md"))
    alone = ["README.md", "SETUP.md", "TEACHING.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    alone += ["days/README.md", "days/GLOSSARY.md"]
    alone += ["grader/README.md", "tools/README.md", *(str(path.relative_to(catalog.ROOT)) for path in rooms)]
    known = {*alone, *lessons, "reading.md", "measured.md"}
    texts = {place: (catalog.ROOT / place).read_text(encoding="utf-8") for place in (*alone, *lessons)}
    texts |= {place: _lesson(day, texts[place], day in shown) for place, day in lessons.items()}
    texts["reading.md"] = _reading(catalog.days())
    return {place: _at(place, text, known) for place, text in texts.items()}


def _at(place: str, text: str, known: Set[str]) -> str:
    """A page's Markdown as the generator reads it: what is code stays as it is."""
    link = _linked(place, known)
    parts = FENCE.split(text)
    parts[::2] = [ITEM.sub(r"\1\n\n", LINK.sub(link, part)) for part in parts[::2]]
    return "".join(parts)


def _linked(place: str, known: Set[str]) -> Callable[[re.Match[str]], str]:
    """A link to a file that is no page leads into the repository, where one is configured, else nowhere."""

    def link(match: re.Match[str]) -> str:
        words, target, heading = match[1], match[2], match[3] or ""
        meant = normpath(PurePosixPath(place).parent / target)
        if meant in known or meant.startswith(("show/", "notebooks/")):
            return match[0]
        there = f"https://github.com/{REPOSITORY}/blob/main/{meant}{heading}"
        return f"[{words}]({there})" if REPOSITORY else words

    return link


def _lesson(day: Day, text: str, shown: bool) -> str:
    """A lesson, its notebook below the title, and behind it hints and picture, both folded."""
    up = "../" * len(Path("days", day.place).parts)
    title, _, rest = text.partition("\n")
    way = [f"[As a notebook]({up}notebooks/{day.stem}.ipynb){{ .md-button download }}"]
    if REPOSITORY:
        colab = f"https://colab.research.google.com/github/{REPOSITORY}/blob/notebooks/{day.stem}.ipynb"
        way.insert(0, f"[Open in Colab]({colab}){{ .md-button }}")
    hints = zip(TIERS, read(day), strict=True)
    tiers = [f'??? question "{tier}"\n\n{textwrap.indent(hint, "    ")}' for tier, hint in hints]
    parts = [f"{title}\n\n{' '.join(way)}\n{rest}", "## Hints", *tiers]
    if shown:
        parts += ["## Who touches what", FRAME.format(up=up, stem=day.stem, heading=day.heading)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _reading(days: Iterable[Day]) -> str:
    """What the lessons cite, week by week."""
    parts = [
        "# Reading, by week",
        "What each lesson is from, in its own words. No day needs more than its lesson.",
    ]
    week = 0
    for day in days:
        if day.week != week:
            week = day.week
            parts.append(f"## Week {week} · {catalog.weeks()[week]}")
        cited = day.lesson.read_text(encoding="utf-8").partition(SOURCES)[2].strip()
        parts.append(f"**[{day.heading}](days/{day.place}/README.md)**<br>\n{cited}")
    return "\n\n".join(parts) + "\n"

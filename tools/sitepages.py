"""The pages of the site, as Markdown: those of the clone at their own places, and lists made of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path, PurePosixPath
from posixpath import normpath

from grader.cli.screens.day_as_notebook import WHEEL
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.hints import TIERS, read
from grader.version import REPOSITORY
from tools import sitemeasured

FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[(?!!)([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
# A line of text, right below which a list begins. On GitHub `1.` begins one, `100.` does not.
ITEM = re.compile(r"^(?! *(?:[-*] |\d+\. |\|))(\S.*)\n(?=(?:[-*]|1\.) )", re.MULTILINE)
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
PICTURE = re.compile(r"^(!\[.*\])\(picture\.svg\)$", re.MULTILINE)
TABLE = re.compile(r"^\|.*\n(?:\|.*\n)+", re.MULTILINE)
WALL = re.compile(r"^\|.*\n\|.*\n(?:\| \[!\[.*\n)+", re.MULTILINE)  # of pictures
SOURCES = "## Where it is from"
# Out of learners' search: developers' pages, and those that say a lesson's words again.
AGAIN = ("measured.md", "reading.md", "days/README.md")
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
FRAME = """\
<iframe src="{up}show/{stem}.html" loading="lazy" title="{heading}: who touches what"></iframe>

Our solution at work: which elements each program reads and writes. [The picture alone]({up}show/{stem}.html)
"""
SKELETON = 60  # lines, from which on it is folded


def pages(shown: Set[Day]) -> dict[str, str]:
    """Every page, by its path in the site.

    Args:
        shown: the days whose picture lies in show/.
    """
    lessons = {f"days/{day.place}/README.md": day for day in catalog.course()}
    learners = ["README.md", "SETUP.md", "days/README.md", "days/GLOSSARY.md", "solutions/README.md"]
    rooms = sorted(str(path.relative_to(catalog.ROOT)) for path in catalog.ROOT.glob("grader/*/**/README.md"))
    apart = ["TEACHING.md", "CONTRIBUTING.md", "CHANGELOG.md", "grader/README.md", "tools/README.md", *rooms]
    texts = {place: (catalog.ROOT / place).read_text(encoding="utf-8") for place in (*learners, *apart)}
    texts |= {place: _lesson(day, shown) for place, day in lessons.items()}
    texts["days/README.md"] = TABLE.sub(_classed("stacked"), texts["days/README.md"])
    texts["README.md"] = WALL.sub(_classed("wall"), texts["README.md"])
    texts |= {place: _group(title, days) for place, (title, days) in groups().items()}
    texts["reading.md"] = _reading(catalog.days())
    texts["measured.md"] = sitemeasured.page()
    texts = {place: _at(place, text, texts.keys()) for place, text in texts.items()}
    return texts | {place: UNSEARCHED + texts[place] for place in (*apart, *AGAIN, *groups())}


def groups() -> dict[str, tuple[str, Sequence[Day]]]:
    """The weeks, then the packs of extras: title and days of each, by the path of its page."""
    found: dict[str, tuple[str, Sequence[Day]]] = {}
    for number, title in catalog.weeks().items():
        days = [day for day in catalog.days() if day.week == number]
        found[f"days/week{number}/README.md"] = f"Week {number} · {title}", days
    for title, extras in catalog.packs().items():
        found[f"days/extras/{re.sub('[^a-z]+', '-', title.lower())}/README.md"] = title, extras
    return found


def _group(title: str, days: Sequence[Day]) -> str:
    """A week or a pack as a page: what each lesson says first, and its picture."""
    parts = [f"# {title}"]
    for day in days:
        lesson = day.lesson.read_text(encoding="utf-8")
        lead = lesson.partition("\n")[2].partition("\n## ")[0]
        parts += [f"## [{day.heading}](../{day.folder.name}/README.md)", lead.strip()]
        parts += [f"{text}(../{day.folder.name}/picture.svg)" for text in PICTURE.findall(lesson)]
    return "\n\n".join(parts) + "\n"


def _classed(name: str) -> str:
    """What stands in place of a table that site.css shows in its own way."""
    return f'<div class="{name}" markdown>\n\n\\g<0>\n</div>\n'


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


def _lesson(day: Day, shown: Set[Day]) -> str:
    """A lesson, with the notebook below its title, the picture behind the idea, the skeleton behind the task,
    and at its end the hints, folded, and the measured times.
    """
    up = "../" * len(Path("days", day.place).parts)
    title, *sections = SECTION.split(day.lesson.read_text(encoding="utf-8"))
    title, _, lead = title.partition("\n")
    way = [f"[As a notebook]({up}notebooks/{day.stem}.ipynb){{ .md-button download }}"]
    way.append(f"[The course as a wheel]({up}notebooks/{WHEEL}){{ .md-button download }}")
    if REPOSITORY:
        colab = f"https://colab.research.google.com/github/{REPOSITORY}/blob/notebooks/{day.stem}.ipynb"
        way.insert(0, f"[Open in Colab]({colab}){{ .md-button }}")
    parts = [title, _unsearched(" ".join(way)), lead]
    for section in sections:
        parts.append(section)
        if section.startswith("## The idea\n") and day in shown:
            parts.append(FRAME.format(up=up, stem=day.stem, heading=day.heading))
        if section.startswith("## Your task\n"):
            parts.append(_skeleton(day))
    hints = zip(TIERS, read(day), strict=True)
    parts += ["## Hints", *(_box("??? question", tier, hint) for tier, hint in hints), sitemeasured.of(day)]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _skeleton(day: Day) -> str:
    """The file to fill in, folded where it is long."""
    source = day.skeleton.read_text(encoding="utf-8").rstrip()
    fold = "???" if len(source.splitlines()) > SKELETON else "???+"
    return _unsearched(_box(f"{fold} example", "kernel.py, which you fill in", f"```python\n{source}\n```"))


def _unsearched(text: str) -> str:
    """A part of a page that the search leaves out: skeletons alone were a fifth of its index."""
    return f"<div data-search-exclude markdown>\n\n{text}\n\n</div>"


def _box(kind: str, title: str, text: str) -> str:
    """Text that folds: `???` is closed, `???+` is open."""
    return f'{kind} "{title}"\n\n{textwrap.indent(text, "    ")}'


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

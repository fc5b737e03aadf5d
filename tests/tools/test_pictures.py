"""The pictures of the days: drawn by the script, whole, and readable on a phone, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from grader.course import catalog
from tools.pictures import gallery, palette
from tools.pictures.drawing import LEFT, RIGHT, SIZE

SVG = "{http://www.w3.org/2000/svg}"
HEAVY = 15_000  # bytes
DAYS = [pytest.param(day, id=day.place) for day in catalog.days()]
Rectangle = tuple[float, float, float, float]


def picture(day: catalog.Day) -> ElementTree.Element:
    return ElementTree.fromstring((day.folder / gallery.NAME).read_text(encoding="utf-8"))


def texts(root: ElementTree.Element) -> Iterator[tuple[str, Rectangle]]:
    """Every line of text, and where its letters lie, in the widest font."""
    for text in root.iter(f"{SVG}text"):
        words, x, y = text.text or "", float(text.get("x", "")), float(text.get("y", ""))
        size = float((re.findall(r"font-size:(\d+)px", text.get("style", "")) or [SIZE])[0])
        assert size >= SIZE, "fewer than 11 pixels on a phone"
        wide = palette.width(words, size, text.get("class", ""))
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "start")]
        yield words, (left, y - 0.74 * size, left + wide, y + 0.12 * size)


def lines(root: ElementTree.Element) -> Iterator[Rectangle]:
    """Every piece of a line or an arrow."""
    for path in root.iter(f"{SVG}path"):
        if not path.get("class", "").endswith("-head"):
            places = [tuple(map(float, place.split())) for place in path.get("d", "")[1:].split("L")]
            yield from ((*a, *b) for a, b in pairwise(places))


def crosses(line: Rectangle, box: Rectangle) -> bool:
    """Whether a line runs through a box: Liang and Barsky's clipping (1984)."""
    (x, y, x1, y1), (left, top, right, bottom) = line, box
    begin, end = 0.0, 1.0
    for at, way, low, high in ((x, x1 - x, left, right), (y, y1 - y, top, bottom)):
        if not way:
            if not low <= at <= high:
                return False
            continue
        near, far = sorted(((low - at) / way, (high - at) / way))
        begin, end = max(begin, near), min(end, far)
    return begin < end


def blots(root: ElementTree.Element) -> Iterator[str]:
    """Words that run out of the picture, into other words, or below a line."""
    height, placed = float(root.get("height", "")), list(texts(root))
    for words, (left, top, right, bottom) in placed:
        if left < LEFT or top < 0 or right > RIGHT or bottom > height:
            yield f"{words!r} runs out of the picture"
        if any(crosses(line, (left, top, right, bottom)) for line in lines(root)):
            yield f"a line runs through {words!r}"
    for (one, a), (other, b) in combinations(placed, 2):
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            yield f"{one!r} and {other!r} lie over each other"


def test_every_day_has_the_picture_that_the_script_draws() -> None:
    missing = [day.name for day in catalog.days() if day.number not in gallery.DAYS]
    assert not missing, f"no function of tools/pictures/ draws {', '.join(missing)}"
    assert not gallery.stale(), "`./track dev pictures` draws them anew"


@pytest.mark.parametrize("day", DAYS)
def test_a_picture_is_light_told_in_words_and_readable(day: catalog.Day) -> None:
    text, root = (day.folder / gallery.NAME).read_text(encoding="utf-8"), picture(day)
    assert len(text.encode()) <= HEAVY
    assert not re.search(r"<script|https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text)
    title, told = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text
    assert told is not None
    assert f"![{told.text}]({gallery.NAME})\n" in day.lesson.read_text(encoding="utf-8")
    assert list(blots(root)) == []


def bright(colour: str) -> float:
    """WCAG 2.2's relative luminance."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_and_lines_stand_out_from_whatever_lies_behind_them(theme: int) -> None:
    faint = [
        (name, ground)
        for ground, fills in palette.GROUNDS.items()
        for least, inks in ((4.5, palette.WORDS), (3, palette.LINES))
        for name, colours in inks.items()
        if name == palette.INK or ground in ("page", "memory", "chip", "plain")  # and nothing else on others
        for one, other in [sorted((bright(colours[theme]), bright(fills[theme])))]
        if (other + 0.05) / (one + 0.05) < least
    ]
    assert faint == []

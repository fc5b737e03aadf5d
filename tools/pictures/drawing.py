"""What the pictures are made of: levels of memory, boxes, cells, grids, arrows, programs, tiles that move.

A drawing reaches from 8 to 632 units. On a phone 390 pixels wide a unit is little more than half a pixel,
so letters are 20 units high at least. Primitives return the boxes that they drew, where arrows begin and end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import hypot

from tools.pictures.palette import INK, QUIET, style, width

LEFT, RIGHT, MARGIN, SIZE, LEADING = 8, 632, 20, 20, 24
Place = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle, by its upper left corner and its sides."""

    x: float
    y: float
    w: float
    h: float

    @property
    def top(self) -> Place:
        return self.x + self.w / 2, self.y

    @property
    def bottom(self) -> Place:
        return self.x + self.w / 2, self.y + self.h

    @property
    def left(self) -> Place:
        return self.x, self.y + self.h / 2

    @property
    def right(self) -> Place:
        return self.x + self.w, self.y + self.h / 2

    def to(self, other: Box) -> Box:
        """The smallest box around both."""
        x, y = min(self.x, other.x), min(self.y, other.y)
        right = max(self.x + self.w, other.x + other.w)
        return Box(x, y, right - x, max(self.y + self.h, other.y + other.h) - y)


class Drawing:
    """One picture, `height` units high: `bars` sets it where they stand last.

    Args:
        title: the day's idea, in one line at the top.
        text: what the picture shows, for those who do not see it.
    """

    def __init__(self, title: str, text: str) -> None:
        self.title, self.text, self.height = title, text, 0.0
        self.parts: list[str] = []
        self.rules: list[str] = []
        self.moved = 0
        self.words(MARGIN, 40, title, size=25, look="bold")

    def words(
        self, x: float, y: float, words: str, anchor: str = "start", size: int = SIZE, look: str = ""
    ) -> None:
        """A line of text whose letters stand on `y`; more lines below it, parted by line breaks."""
        words, *more = words.split("\n")
        for number, line in enumerate(more, 1):
            self.words(x, y + LEADING * number, line, anchor, size, look)
        wide = width(words, size, look)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        assert LEFT < left < RIGHT - wide, f"{words!r} of {self.title!r} runs out of the picture"
        assert size >= SIZE, f"{words!r} of {self.title!r} is too small for a phone"
        colour = "" if QUIET in look.split() else f"{INK} "
        sized = f' style="font-size:{size}px"' if size != SIZE else ""
        anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
        at = f'x="{x:g}" y="{y:g}"{anchored} class="{(colour + look).strip()}"{sized}'
        self.parts.append(f"<text {at}>{escape(words, quote=False)}</text>")

    def note(self, y: float, words: str, x: float = MARGIN) -> None:
        """A quiet line of text."""
        self.words(x, y, words, look=QUIET)

    def box(
        self, x: float, y: float, w: float, h: float, words: str = "", kind: str = "plain", look: str = ""
    ) -> Box:
        """A rectangle with a word or a few lines in its middle, parted by line breaks."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4" class="box {kind}"/>'
        )
        lines = words.split("\n") if words else []
        for number, line in enumerate(lines):
            wide = width(line, SIZE, look)
            assert wide <= w, f"{line!r} of {self.title!r} is {wide:.0f} wide, its box {w:g}"
            down = y + h / 2 + 7 + LEADING * (number - (len(lines) - 1) / 2)
            self.words(x + w / 2, down, line, "middle", look=look)
        return Box(x, y, w, h)

    def level(
        self, y: float, h: float, words: str, kind: str = "memory", low: bool = False, x: float = MARGIN
    ) -> Box:
        """A level of memory from edge to edge, `memory` or `chip`. Its name begins at x, above or `low`."""
        band = self.box(LEFT + 2, y, RIGHT - LEFT - 4, h, kind=kind)
        self.words(x, y + h - 11 if low else y + 25, words, look=f"bold {QUIET}")
        return band

    def program(self, x: float, y: float, words: str, w: float = 0) -> Box:
        """The badge of a program."""
        wide = w or width(words, SIZE, "bold") + 24
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="34" rx="17" class="box keep"/>'
        )
        self.words(x + wide / 2, y + 24, words, "middle", look="bold")
        return Box(x, y, wide, 34)

    def cells(
        self, x: float, y: float, words: Sequence[str], kinds: str | Sequence[str], w: float, h: float = 38
    ) -> list[Box]:
        """Elements side by side; one kind for all, or one for each."""
        each = [kinds] * len(words) if isinstance(kinds, str) else kinds
        return [
            self.box(x + w * number, y, w, h, word, kind)
            for number, (word, kind) in enumerate(zip(words, each, strict=True))
        ]

    def grid(
        self,
        x: float,
        y: float,
        rows: Sequence[str],
        kinds: Mapping[str, tuple[str, str]],
        w: float,
        h: float,
    ) -> list[list[Box]]:
        """Tiles, a letter each: `kinds` has its words and kind."""
        return [
            [
                self.box(x + w * column, y + h * row, w, h, *kinds[letter])
                for column, letter in enumerate(letters)
            ]
            for row, letters in enumerate(rows)
        ]

    def arrow(self, *places: Place, kind: str = "line", both: bool = False) -> None:
        """A line through places, with a head at its end: `load`, `store` or another line."""
        *_, (x0, y0), (x, y) = places
        long = hypot(x - x0, y - y0) or 1
        dx, dy = (x - x0) / long, (y - y0) / long
        stop = (x - 9 * dx, y - 9 * dy)
        way = "L".join(f"{a:.4g} {b:.4g}" for a, b in (*places[:-1], stop))
        self.parts.append(f'<path d="M{way}" class="{kind}"/>')
        corners = (
            (x, y),
            (x - 13 * dx + 6 * dy, y - 13 * dy - 6 * dx),
            (x - 13 * dx - 6 * dy, y - 13 * dy + 6 * dx),
        )
        head = "L".join(f"{a:.4g} {b:.4g}" for a, b in corners)
        self.parts.append(f'<path d="M{head}z" class="{kind}-head"/>')

    def chain(self, *boxes: Box, kind: str = "line") -> None:
        """An arrow from each box to the next one, on its right."""
        for one, other in pairwise(boxes):
            self.arrow(one.right, other.left, kind=kind)

    def line(self, *places: Place, kind: str = "line") -> None:
        """A line through places."""
        way = "L".join(f"{a:.4g} {b:.4g}" for a, b in places)
        self.parts.append(f'<path d="M{way}" class="{kind}"/>')

    def moving(self, boxes: Sequence[Box], still: int, seconds: float = 1.4) -> None:
        """A frame that goes from box to box, around and around; who wants no motion sees it at `still`."""
        at, self.moved = boxes[still], self.moved + 1
        name, count = f"m{self.moved}", len(boxes)
        steps = []
        for number, box in enumerate(boxes):
            where = f"{{transform:translate({box.x - at.x:g}px,{box.y - at.y:g}px)}}"
            begin, end = 100 * number / count, 100 * (number + 0.75) / count
            steps.append(f"{begin:.4g}%,{end:.4g}%{where}")
        run = f".{name}{{animation:{name} {seconds * count:g}s infinite}}"
        self.rules.append(f"@keyframes {name}{{{''.join(steps)}}}")
        self.rules.append(f"@media(prefers-reduced-motion:no-preference){{{run}}}")
        self.parts.append(f'<g class="{name}">')
        self.frame(at)
        self.parts.append("</g>")

    def frame(self, box: Box) -> None:
        """A frame around what is meant."""
        shape = f'x="{box.x - 2:g}" y="{box.y - 2:g}" width="{box.w + 4:g}" height="{box.h + 4:g}" rx="5"'
        self.parts.append(f'<rect {shape} class="frame"/>')

    def svg(self) -> str:
        """The file."""
        size = f'width="{RIGHT - LEFT}" height="{self.height:g}"'
        head = f'xmlns="http://www.w3.org/2000/svg" viewBox="{LEFT} 0 {RIGHT - LEFT} {self.height:g}"'
        head += f' {size} role="img" aria-labelledby="t d"'
        told = f'<title id="t">{escape(self.title)}</title><desc id="d">{escape(self.text)}</desc>'
        page = f'<rect x="{LEFT}" {size} rx="10" class="page" stroke="none"/>'
        return (
            "\n".join([f"<svg {head}>", told, style("".join(self.rules)), page, *self.parts, "</svg>"]) + "\n"
        )

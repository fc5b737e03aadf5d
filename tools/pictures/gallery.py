"""Which picture each day has, and the files that hold them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from grader.course import catalog
from tools.pictures import week1, week2, week3, week4, week5
from tools.pictures.drawing import Drawing

NAME = "picture.svg"
# The functions by number; the docstring of each is the picture's title and what it shows, in words.
DAYS: dict[int, Callable[[Drawing], None]] = {
    int(name[3:]): draw
    for week in (week1, week2, week3, week4, week5)
    for name, draw in vars(week).items()
    if name.startswith("day")
}


def svg(number: int) -> str:
    """A day's picture as the script draws it."""
    title, _, text = inspect.cleandoc(DAYS[number].__doc__ or "").partition("\n\n")
    drawing = Drawing(title, " ".join(text.split()))
    DAYS[number](drawing)
    return drawing.svg()


def stale() -> dict[Path, str]:
    """Each file that is missing, or not as the script draws it, with what it should hold."""
    drawn = {catalog.find(str(number)).folder / NAME: svg(number) for number in DAYS}
    return {
        path: text
        for path, text in drawn.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }

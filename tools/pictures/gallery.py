"""Which picture each day has, and the files that hold them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

from grader.course import catalog
from tools.pictures import week1, week2, week3, week4, week5
from tools.pictures.drawing import Drawing

NAME = "picture.svg"
LINE = re.compile(rf"^!\[.*\]\({NAME}\)$", re.MULTILINE)  # of a lesson
# The functions by number; the docstring of each is the picture's title and what it shows, in words.
DAYS: dict[int, Callable[[Drawing], None]] = {
    int(name[3:]): draw
    for week in (week1, week2, week3, week4, week5)
    for name, draw in vars(week).items()
    if name.startswith("day")
}


def drawing(number: int) -> Drawing:
    """A day's picture as the script draws it."""
    title, _, text = inspect.cleandoc(DAYS[number].__doc__ or "").partition("\n\n")
    drawn = Drawing(title, " ".join(text.split()))
    DAYS[number](drawn)
    return drawn


def stale() -> dict[Path, str]:
    """Each file that is missing, or not as it is drawn, with what it should hold: pictures, and lessons whose
    line with the picture has other words than the picture.
    """
    wanted = {}
    for number in DAYS:
        day, drawn = catalog.find(str(number)), drawing(number)
        lesson = day.lesson.read_text(encoding="utf-8")
        wanted[day.folder / NAME] = drawn.svg()
        wanted[day.lesson] = LINE.sub(f"![{drawn.text}]({NAME})", lesson)
    return {
        path: text
        for path, text in wanted.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }

"""Which picture each day has, and the files that hold or show them."""

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
HOME = catalog.ROOT / "README.md"
WALL = re.compile(r"(?:^\| \[!\[.*\n)+", re.MULTILINE)  # of HOME
TIMES = re.compile(r"^\| (\d+) \| .+? \| (\S+) \| \S+ \| (\S+).*\|$", re.MULTILINE)  # of HOME, measured
COLUMNS = 5
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


def wall(home: str) -> str:
    """All pictures as rows of a table; each leads to its lesson, and the home page's figures stand below."""
    figures = {}
    for number, torch, cudnn in TIMES.findall(home):
        beside = f"<br>{cudnn} × cuDNN" if cudnn[0].isdigit() else ""
        figures[int(number)] = f"<br>**{torch} × torch**{beside}"
    cells = []
    for number in DAYS:
        day, folder = catalog.find(str(number)), catalog.find(str(number)).folder.relative_to(catalog.ROOT)
        shown = f"![{drawing(number).title}]({folder}/{NAME})<br>{number} · {day.title}"
        cells.append(f"[{shown}]({folder}/README.md){figures.get(number, '')}")
    rows = [cells[first : first + COLUMNS] for first in range(0, len(cells), COLUMNS)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def stale() -> dict[Path, str]:
    """Each file that is missing, or not as it is drawn, with what it should hold: pictures, lessons whose
    line with the picture has other words than the picture, and the home page's wall of pictures.
    """
    home = HOME.read_text(encoding="utf-8")
    wanted = {HOME: WALL.sub(lambda _: wall(home), home)}
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

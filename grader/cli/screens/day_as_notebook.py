"""A day as a notebook: its lesson, its skeleton in a cell that is graded, and cells for hints and pictures.

Nothing is written twice: all of it comes from the day's own files.
"""

from __future__ import annotations

import importlib
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from grader.course.catalog import Day
from grader.course.learner.workspace import writing
from grader.errors import TrackError, pasted
from grader.version import REPOSITORY

FIRST = """\
# Installs the course where it is missing; a torch and a Triton that fit stay. Works with a GPU and without.
import importlib.util

if importlib.util.find_spec("grader") is None:
    %pip install --quiet "{course}"

%load_ext grader.notebook
%track doctor"""
HINT = "# Stuck? A nudge; run it again for the approach, and again for the crucial lines.\n%hint {day}"
SHOW = "# Once a TODO is filled in: which elements each program reads and writes.\n%show {day}"
INSPECT = "# And what the kernel moves, line by line, and what it compiles to.\n%inspect {day}"
COURSE = f"triton-track @ git+https://github.com/{REPOSITORY}" if REPOSITORY else "triton-track"


def write(day: Day, path: Path, course: str = COURSE) -> None:
    """Writes the notebook of a day.

    Args:
        course: what its first cell installs where the course is missing.

    Raises:
        TrackError: nbformat is missing, or something stands there: it may be somebody's work.
    """
    try:
        nbformat: Any = importlib.import_module("nbformat")
    except ModuleNotFoundError:
        from grader.course.setup.doctor import extra

        raise TrackError(
            "A notebook is written by nbformat, which is not installed.", extra("notebook")
        ) from None
    if path.exists():
        raise TrackError(f"{path} stays as it is: it may hold your work.", "Name another file with --out.")
    with (
        writing(path, f"track notebook {day.key} --out ~/{pasted(path.name)}"),
        path.open("x", encoding="utf-8") as file,
    ):
        nbformat.write(_notebook(nbformat.v4, day, course), file)


def _notebook(form: Any, day: Day, course: str) -> Any:
    lesson = day.lesson.read_text(encoding="utf-8").strip()
    for picture in day.folder.glob("*.svg"):  # inside: beside a notebook there may be no file
        data = b64encode(picture.read_bytes()).decode()
        shown = rf'<img alt="\1" src="data:image/svg+xml;base64,{data}">'
        lesson = re.sub(rf"^!\[(.*)\]\({picture.name}\)$", shown, lesson, flags=re.MULTILINE)
    title, *sections = re.split(r"^(?=## )", lesson, flags=re.MULTILINE)
    graded = f"%%grade {day.key}\n{day.skeleton.read_text(encoding='utf-8').rstrip()}"
    after = [text.format(day=day.key) for text in (HINT, SHOW, INSPECT)]
    cells = [form.new_markdown_cell(title.strip()), form.new_code_cell(FIRST.format(course=course))]
    cells += [form.new_markdown_cell(section.strip()) for section in sections]
    cells += [form.new_code_cell(source) for source in (graded, *after)]
    for number, cell in enumerate(cells):
        cell["id"] = f"{day.stem.replace('_', '-')}-{number}"  # the same notebook every time it is made
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return form.new_notebook(cells=cells, metadata={"kernelspec": kernel})

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
from grader.version import REPOSITORY, __version__

FIRST = """\
# Run this first: it installs the course. COURSE is its wheel, beside this notebook, or a clone's address.
# It keeps a torch and a Triton that fit. Without torch and a GPU, it installs PyTorch for CPUs: 0.2 GB.
COURSE = "{course}"

import importlib.util, shutil, sys

if importlib.util.find_spec("grader") is None:
    if importlib.util.find_spec("torch") is None and shutil.which("nvidia-smi") is None:
        %pip install --quiet uv
        !"{{sys.executable}}" -m uv pip install -q --python "{{sys.executable}}" --torch-backend cpu {pair}
    %pip install --quiet "{{COURSE}}"

%load_ext grader.notebook
%track doctor"""
PAIR = "torch==2.13.0 triton==3.7.1"  # as pyproject.toml pins them
HINT = "# Stuck? A nudge; run it again for the approach, and again for the crucial lines.\n%hint {day}"
SHOW = "# Once a TODO is filled in: which elements each program reads and writes.\n%show {day}"
INSPECT = "# And what the kernel moves, line by line, and what it compiles to.\n%inspect {day}"
WHEEL = f"triton_track-{__version__}-py3-none-any.whl"  # the site has it beside the notebooks
OWNER, _, NAME = REPOSITORY.partition("/")
COURSE = f"https://{OWNER}.github.io/{NAME}/notebooks/{WHEEL}" if REPOSITORY else WHEEL
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
CALL = "\n\n# Call the function here, and print its result. It runs with a GPU and without."
MAGICS = "hint|inspect|lesson|show|start|status"
COMMANDS = f"(?:{MAGICS}|doctor|grade|python|solution|tour)\\b"


def as_magics(words: str) -> str:
    """Commands as a cell has them: `%track hint` as `%hint`, and `%track grade 13` as the cell to run again,
    `%%grade 13`; with options it is a line, for that is graded as it was saved.
    """
    words = re.sub(r"%track grade(?=(?: [a-z0-9_]+)? -)", "%grade", words)
    words = re.sub(rf"%track ({MAGICS})\b", r"%\1", words.replace("%track grade", "%%grade"))
    return words.replace("once kernel.py is", "once the cell is").replace(
        "in kernel.py are", "in the cell are"
    )


def write(day: Day, path: Path) -> None:
    """Writes the notebook of a day.

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
        raise TrackError(
            f"{path} stays as it is: it may hold your work.", "Open it, or name another by --out."
        )
    with (
        writing(path, f"track notebook {day.key} --out ~/{pasted(path.name)}"),
        path.open("x", encoding="utf-8") as file,
    ):
        nbformat.write(_notebook(nbformat.v4, day), file)


def _notebook(form: Any, day: Day) -> Any:
    lesson = _illustrated(day, _spoken(day, day.lesson.read_text(encoding="utf-8").strip()))
    title, *sections = re.split(r"^(?=## )", lesson, flags=re.MULTILINE)
    graded = f"%%grade {day.key}\n{day.skeleton.read_text(encoding='utf-8').rstrip()}"
    own = [graded, *(text.format(day=day.key) for text in (HINT, SHOW, INSPECT))]
    cells = [
        form.new_markdown_cell(title.strip()),
        form.new_code_cell(FIRST.format(course=COURSE, pair=PAIR)),
    ]
    for section in sections:
        if section.startswith("## Setting up\n"):  # the first cell does
            continue
        example = EXAMPLE.search(section) if section.startswith("## A worked example\n") else None
        texts = (section[: example.start()], section[example.end() :]) if example else (section,)
        parts = [form.new_markdown_cell(text.strip()) for text in texts if text.strip()]
        cells += [*parts[:1], form.new_code_cell(_runs(example[1])), *parts[1:]] if example else parts
        if section.startswith("## Your task\n"):
            cells += map(form.new_code_cell, own)
    for number, cell in enumerate(cells):
        cell["id"] = f"{day.stem.replace('_', '-')}-{number}"  # the same notebook every time it is made
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return form.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _spoken(day: Day, lesson: str) -> str:
    """The lesson as a notebook says it: the example is a cell, and commands are magics."""
    saved = r"Save it as `\w+\.py`,? and run (?:it with )?(?=`\./track python)"
    lesson = re.sub(saved, "Run the cell above. It begins with ", lesson)
    lesson = lesson.replace("track python kernel.py", f"track python my-track/{day.stem}/kernel.py")
    lesson = re.sub(r"\./track python( --interpret)? (?!test_)\w+\.py", r"%%track python\1", lesson)
    return as_magics(re.sub(rf"(?<!%)(?:\./)?\btrack (?={COMMANDS})", "%track ", lesson))


def _illustrated(day: Day, lesson: str) -> str:
    """The lesson with its pictures inside: beside a notebook there may be no file."""
    for picture in day.folder.glob("*.svg"):
        data = b64encode(picture.read_bytes()).decode()
        shown = rf'<img alt="\1" src="data:image/svg+xml;base64,{data}">'
        lesson = re.sub(rf"^!\[(.*)\]\({picture.name}\)$", shown, lesson, flags=re.MULTILINE)
    return lesson


def _runs(example: str) -> str:
    """The example as a cell that runs alone."""
    imports = "" if "import triton" in example else IMPORTS
    return f"%%track python\n{imports}{example.rstrip()}{'' if 'print(' in example else CALL}"

"""A day as a notebook: made of its own files, and run by Jupyter."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.course import catalog
from tests.learner import Learner

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")

DAY = catalog.days()[0]
INSIDE = r'<img alt="(.*)" src="data:image/svg\+xml;base64,[\w+/=]+">'


def test_every_day_is_a_valid_notebook_with_its_lesson_and_its_skeleton(learner: Learner) -> None:
    answer = learner.types("notebook", "--all", "book")
    assert answer.code == 0
    assert f"{len(catalog.course())} notebooks written" in answer.out
    for day in catalog.course():
        made = nbformat.read(learner.folder / "book" / f"{day.stem}.ipynb", as_version=4)
        nbformat.validate(made)
        texts = "\n\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
        texts, pictures = re.subn(INSIDE, r"![\1](picture.svg)", texts)
        assert pictures == (day.folder / "picture.svg").is_file()
        lesson = EXAMPLE.sub("\\1", SET_UP.sub("", day.lesson.read_text()), count=1)
        assert re.findall(r"^#+ .*", texts, re.MULTILINE) == re.findall(r"^#+ .*", lesson, re.MULTILINE)
        assert len(texts.split()) > 0.95 * len(lesson.split())
        assert not re.search(r"(?<!%)\btrack (grade|hint|inspect|python|show|start)\b", texts)
        codes = [cell.source for cell in made.cells if cell.cell_type == "code"]
        assert f"%%grade {day.key}\n{day.skeleton.read_text().strip()}" in codes
        assert any(code.startswith("%%track python\nimport") for code in codes) == (
            "```python" in example(day)
        )
        assert str(catalog.ROOT) not in str(made)


SET_UP = re.compile(r"^## Setting up\n(?:(?!## ).*\n)*", re.MULTILINE)
# The code of the worked example, which is a cell.
EXAMPLE = re.compile(
    r"^(## A worked example\n(?:(?!## ).*\n)*?)```python\n(?:(?!```).*\n)*```\n", re.MULTILINE
)


def example(day: catalog.Day) -> str:
    found = EXAMPLE.search(day.lesson.read_text())
    return found[0] if found else ""


def test_the_next_command_opens_it_with_what_is_there(learner: Learner, tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("jupyter")
    learner.environment["PATH"] = f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"
    if not beside.with_name("jupyter-lab").exists():
        line = f"Next: {sys.executable} -m pip install jupyterlab && {beside} lab a.ipynb   or "
        assert line in learner.types("notebook", "1", "--out", "a.ipynb").out
    (tmp_path / "jupyter-lab").write_text("#!/bin/sh\n")
    (tmp_path / "jupyter-lab").chmod(0o755)
    out = learner.types("notebook", "1", "--out", "b.ipynb").out
    assert out.endswith("Next: jupyter lab b.ipynb   or open it in VS Code\n")


def test_what_stands_there_is_kept(learner: Learner) -> None:
    assert "Written: day01" in learner.types("notebook", "1").out
    path = learner.folder / f"{DAY.stem}.ipynb"
    path.write_text("mine")
    answer = learner.types("notebook", "1")
    assert answer.code != 0
    assert "it may hold your work" in answer.err
    learner.types("notebook", "--all", ".")
    assert path.read_text() == "mine"


def test_jupyter_runs_it_from_the_first_cell_to_green(
    learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner.types("notebook", "1")
    made = nbformat.read(learner.folder / f"{DAY.stem}.ipynb", as_version=4)
    assert "7, 6, 5, 4, 3, 2, 1, 0" not in str(made), "what the worked example prints"
    solved = f"%%grade 1 --cpu\n{DAY.solution.read_text()}"
    made.cells += [nbformat.v4.new_code_cell(source) for source in (solved, "%show 1")]
    monkeypatch.setenv("TRACK_HOME", str(tmp_path / "my-track"))
    nbclient.NotebookClient(made, timeout=150, kernel_name="python3").execute()
    printed = [out for cell in made.cells for out in cell.get("outputs", []) if out.get("name") == "stderr"]
    assert not printed, "a warning beside what is shown is a red box"
    told = [[str(o.get("text", o.get("data"))) for o in cell.get("outputs", [])] for cell in made.cells]
    said = [re.sub(r"\x1b\[[\d;]*m", "", "".join(each)) for each in told]
    by_cell = dict(zip((cell.source.partition("\n")[0] for cell in made.cells), said, strict=True))
    assert "Nothing to grade yet." in by_cell["%%grade 1"]
    assert "Passed. The day is done on CPU." in by_cell["%%grade 1 --cpu"]
    assert any("hint 1 of 3" in one for one in said)
    assert "7, 6, 5, 4, 3, 2, 1, 0" in by_cell["%%track python"]
    assert "srcdoc" in said[-1]

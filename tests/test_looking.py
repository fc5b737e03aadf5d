"""`track inspect` and `track show`: what is inside a kernel, on a screen and on a page."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from grader import catalog, picture
from grader.errors import BadSubmission
from grader.insight import ask
from grader.meter.gpus import GPUS
from grader.screens import Terminal, inside
from grader.warm import Warm
from tests import planted

DAY = catalog.find("7")


@pytest.fixture
def strided(tmp_path: Path) -> Path:
    """Day 7's laggard, which stores down a column."""
    path = tmp_path / "kernel.py"
    path.write_text(planted.laggards(DAY)[0].source(DAY), encoding="utf-8")
    return path


def test_inspect_shows_each_line_with_its_figure(warm: Warm, strided: Path) -> None:
    parts = ask(DAY, strided, "inspect", warm=warm, gpu="a100", machine=True, code="")
    screen = io.StringIO()
    inside.table(Terminal(screen), DAY, strided, GPUS["a100"], parts)
    text = screen.getvalue()
    assert "predicted for one A100" in text
    assert re.search(r"line 24 +stores 268 MB +12% of sectors +tl.store\(y_ptrs", text)
    assert re.search(r"line 21 +loads 268 MB +100% of sectors", text)
    assert re.search(r"registers +\d+ a thread", text)
    assert re.search(r"occupancy +\d+%: \d+ programs of 4 warps an SM", text)
    assert "loads 2 of 16 bytes; stores 8 of 4 bytes" in text
    assert "STG 8" in text
    assert "neighbouring lanes are 8192 elements apart" in text
    assert json.loads(json.dumps(parts))[0]["launches"][0]["compiled"]["facts"]["fits"]


@pytest.mark.parametrize("kind", ["ptx", "sass", "ttgir"])
def test_code_has_the_learners_lines_between(warm: Warm, kind: str) -> None:
    parts = ask(DAY, DAY.solution, "inspect", warm=warm, gpu="h200", machine=False, code=kind)
    screen = io.StringIO()
    inside.code(Terminal(screen), Terminal(io.StringIO()), DAY, DAY.solution, parts)
    text = screen.getvalue()
    own = [line for line in text.splitlines() if line.startswith("# line ")]
    assert any("tl.load(x_ptr" in line for line in own)
    assert any("tl.store(y_ptrs" in line for line in own)
    assert {"ptx": "st.global", "sass": "STG", "ttgir": "ttg.blocked"}[kind] in text


def test_show_draws_who_touches_what_on_one_page(warm: Warm) -> None:
    parts = ask(DAY, DAY.solution, "show", warm=warm)
    launch = parts[0]["launches"][0]
    assert len(launch["programs"]) > 1
    steps = [step for program in launch["programs"] for step in program["steps"]]
    assert {step["kind"] for step in steps} == {"load", "store"}
    touched = sum(count for step in steps if step["kind"] == "store" for _, count in step["touched"])
    assert touched == launch["tensors"]["y_ptr"]["shape"][0] * launch["tensors"]["y_ptr"]["shape"][1]
    assert any(step["outside"] or step["masked"] for step in steps)
    page = picture.page(DAY, DAY.solution, parts)
    assert "{{" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched


def test_a_file_that_is_not_started_has_nothing_to_show(warm: Warm) -> None:
    with pytest.raises(BadSubmission):
        ask(DAY, DAY.skeleton, "show", warm=warm)

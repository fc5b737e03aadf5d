"""The door for Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import grader
from grader import Pool, Verdict, grade
from grader.course import catalog
from grader.errors import BadSubmission, UnknownDay

DAY = catalog.find("1")
RIGHT = DAY.solution.read_text(encoding="utf-8")


def test_a_source_is_graded_by_a_line_of_python() -> None:
    verdict = grade(1, RIGHT, device="cpu", seed=4021)
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.seed, verdict.score()) == ("passed", 4021, 1.0)


def test_what_is_no_fault_of_the_source_is_raised() -> None:
    with pytest.raises(UnknownDay):
        grade(99, RIGHT, device="cpu")
    with pytest.raises(BadSubmission):
        grade(1, Path("nowhere.py"), device="cpu")
    with pytest.raises(ValueError, match="0 workers"):
        Pool(workers=0, device="cpu")


def test_the_door_is_opened_when_it_is_used() -> None:
    """`track status` imports the package, and nothing heavy with it."""
    code = "import sys, grader; print(*(name for name in sys.modules if name.startswith('grader.')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["grader.version"]
    with pytest.raises(AttributeError):
        _ = grader.nothing


def test_the_example_scores_a_batch_by_a_pool_best_first(tmp_path: Path) -> None:
    sources = {
        "wrong.py": RIGHT.replace("2 * x + 1\n", "2 * x\n"),
        "bare.py": "import torch\n",
        "good.py": RIGHT,
        "torn.py": "def",
    }
    for name, source in sources.items():
        (tmp_path / name).write_text(source)
    command = [sys.executable, str(catalog.ROOT / "examples" / "score_kernels.py"), "1", *sources]
    surroundings = {**os.environ, "PYTHONPATH": str(catalog.ROOT)}
    shown = subprocess.run(
        command, capture_output=True, text=True, check=True, env=surroundings, cwd=tmp_path
    ).stdout
    told = [line.split()[:3] for line in shown.splitlines()]
    assert told[0] == ["1.000", "passed", "good.py"]
    assert sorted(told[1:]) == [["0.000", "failed", name] for name in ("bare.py", "torn.py", "wrong.py")]

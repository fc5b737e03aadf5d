"""The door for Python."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import grader
from grader import Pool, Verdict, catalog, grade
from grader.errors import BadSubmission, UnknownDay

DAY = catalog.find("1")
RIGHT = DAY.solution.read_text(encoding="utf-8")


def test_a_source_is_graded_by_a_line_of_python() -> None:
    verdict = grade(1, RIGHT, device="cpu", seed=4021)
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.seed, verdict.score()) == ("passed", 4021, 1.0)


def test_a_pool_grades_several_at_once_and_in_order() -> None:
    sources = [RIGHT, "def", DAY.skeleton, RIGHT.encode()]

    async def scores() -> list[str]:
        async with Pool(workers=2, device="cpu") as pool:
            found = await asyncio.gather(*(pool.grade("hello_triton", one) for one in sources))
        return [one.status for one in found]

    assert asyncio.run(scores()) == ["passed", "failed", "unstarted", "passed"]


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


def test_the_example_scores_a_batch_best_first(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(RIGHT)
    (tmp_path / "bad.py").write_text("import torch\n")
    command = [sys.executable, str(catalog.ROOT / "examples" / "score_kernels.py"), "1"]
    paths = [str(tmp_path / name) for name in ("bad.py", "good.py")]
    surroundings = {"PYTHONPATH": str(catalog.ROOT), "PATH": "", "HOME": str(tmp_path)}
    shown = subprocess.run([*command, *paths], capture_output=True, text=True, check=True, env=surroundings)
    first, second = shown.stdout.splitlines()
    assert first.startswith("1.000  passed")
    assert "good.py" in first
    assert second.startswith("0.000  failed")
    assert "bad.py" in second

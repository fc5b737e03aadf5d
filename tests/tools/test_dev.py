"""`track dev`: the tools get their arguments, and the promised figures are counted right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog
from tests import environments
from tools import grader_benchmark


def dev(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    around = environments.plain(PYTHONPATH=str(catalog.ROOT), TRACK_COMMAND="./nobody")
    return subprocess.run(
        [sys.executable, "-m", "grader", "dev", *words],
        cwd=cwd,
        env=around,
        capture_output=True,
        text=True,
        check=False,
    )


def test_arguments_of_dev_test_go_to_pytest_in_the_clone(tmp_path: Path) -> None:
    answer = dev("test", "-n0", "--collect-only", "-q", "tests/tools/test_dev.py", cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "test_arguments_of_dev_test_go_to_pytest_in_the_clone" in answer.stdout


def test_the_exit_code_of_dev_test_is_that_of_pytest(tmp_path: Path) -> None:
    assert dev("test", "-n0", "--rootdir", "no such folder", cwd=tmp_path).returncode == 4


def test_eight_writers_lose_nothing_in_the_journal() -> None:
    assert grader_benchmark._appended() == grader_benchmark.WRITERS * grader_benchmark.APPENDS


@pytest.mark.parametrize(
    ("measured", "least", "most", "kept"),
    [
        (149.9, 0, 150, True),
        (150.1, 0, 150, False),
        (20, 20, 20, True),
        (19, 20, 20, False),
        (1.03, 0.98, 1.02, False),
    ],
)
def test_a_figure_is_kept_within_its_range(measured: float, least: float, most: float, kept: bool) -> None:
    assert grader_benchmark.Figure("", measured, "", least, most).kept is kept

"""What hangs on private names of Triton runs on each version that we promise, not on the pinned one alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.course import catalog
from tests import environments
from tools.commands import TRITONS, home

MARKED = (
    "tests/performance/counting/test_counts.py",
    "tests/kernel",
    "tests/judge/test_compile_ahead.py",
    "tests/judge/checks/test_predicted_speed.py",
    "tests/runner/test_edit_trials.py",
)


@pytest.mark.parametrize("version", TRITONS)
def test_what_hangs_on_private_names_works_on_each_triton(version: str) -> None:
    if not home(version).is_dir():
        pytest.skip(f"Triton {version} is not here: ./track dev test fetches it")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "every_triton", *MARKED]
    path = f"{home(version)}:{catalog.ROOT}"
    shows = "import triton; print(triton.__version__)"
    for line, says in (([sys.executable, "-c", shows], version), (command, " passed")):
        done = subprocess.run(
            line, cwd=catalog.ROOT, env=environments.plain(PYTHONPATH=path), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert says in done.stdout

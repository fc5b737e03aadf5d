"""What hangs on private names of Triton runs on each version that we promise, not on the pinned one alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader import catalog
from grader.dev.commands import TRITONS, home
from tests import environments

MARKED = (
    "tests/meter/test_counts.py",
    "tests/runner/test_launcher.py",
    "tests/interpreter/test_eightbit.py",
    "tests/interpreter/test_interpreter.py",
    "tests/interpreter/test_launching.py",
    "tests/interpreter/test_proxy.py",
    "tests/interpreter/test_rewriting.py",
    "tests/interpreter/test_shapes.py",
    "tests/judge/test_ahead.py",
    "tests/judge/checks/test_predicted.py",
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

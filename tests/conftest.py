"""Fixtures that more than one test file uses."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.course import catalog
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict

pytest_plugins = ["tests.learner", "tests.made_up_day", "tests.shown"]

# Else what a test starts compiles its sources anew, or keeps them in the cache of whoever runs the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
torch.set_num_threads(1)  # two test processes with two threads each wait for each other six times as long

Grade = Callable[..., Verdict]


@pytest.fixture(scope="session")
def _apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apart")


@pytest.fixture(autouse=True)
def _own_memory(_apart: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test is led to another's workspace, or to one of whoever runs it, in this clone or elsewhere."""
    # Not by pytest's own, which looks at all folders that it made before: 10 s of nine thousand tests.
    with tempfile.TemporaryDirectory(dir=_apart, ignore_cleanup_errors=True) as folder:
        here = Path(folder, "here")
        here.mkdir()
        monkeypatch.delenv("TRACK_HOME", raising=False)
        monkeypatch.chdir(here)
        yield


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """One warm parent for all gradings of a test process."""
    with Warm("cpu") as parent:
        yield parent


@pytest.fixture
def graded(warm: Warm, tmp_path: Path) -> Grade:
    """Grades a source text (or a file) on a day, without a GPU."""

    def run(key: catalog.Key, source: str | Path, **options: Any) -> Verdict:
        path = source if isinstance(source, Path) else tmp_path / "kernel.py"
        if not isinstance(source, Path):
            path.write_text(source, encoding="utf-8")
        # One seed, so that a red test is red again; `track dev proof` draws fresh ones.
        return grade(catalog.find(str(key)), path, warm=warm, **{"seed": 4021, **options})

    return run


# They would stand at the end.
LONG = ("test_tritons", "test_decode_example", "test_readme", "test_example", "test_site", "test_scaffold")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: what is begun last is waited for by one core alone."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONG))

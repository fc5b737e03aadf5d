"""A day made up for a test: hidden tests and a kernel, judged as any other day's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict

HIDDEN = "import torch\nfrom grader.challenge import *\n\n"
KERNEL = "import torch\nimport triton\nimport triton.language as tl\n\n\n"

Judged = Callable[[str, str], Verdict]


@pytest.fixture
def judged(warm: Warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Grades a kernel's source on the source of hidden tests, without a GPU."""

    def run(hidden: str, kernel: str) -> Verdict:
        day = Day(1, "made_up")
        monkeypatch.setattr(catalog, "ROOT", tmp_path)
        day.folder.mkdir(parents=True, exist_ok=True)
        day.hidden_tests.write_text(HIDDEN + hidden, encoding="utf-8")
        day.skeleton.write_text("# TODO\n", encoding="utf-8")
        path = tmp_path / "kernel.py"
        path.write_text(KERNEL + kernel, encoding="utf-8")
        return grade(day, path, warm=warm, seed=4021)

    return run


def fails(judged: Judged, hidden: str, kernel: str, edit: tuple[str, str], says: str) -> Verdict:
    """The verdict on a kernel with this edit of one place, which fails and says so."""
    assert kernel.count(edit[0]) == 1
    verdict = judged(hidden, kernel.replace(*edit))
    assert verdict.status == "failed"
    assert says in verdict.diagnosis, verdict.diagnosis
    return verdict

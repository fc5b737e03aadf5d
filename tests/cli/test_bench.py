"""`track bench` without a GPU, and `track report`, as a learner types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import catalog
from tests.learner import DAY_1, Learner


def test_without_a_gpu_a_bench_says_so_and_what_predicts(learner: Learner) -> None:
    learner.environment["CUDA_VISIBLE_DEVICES"] = ""
    answer = learner.types("bench", "7")
    assert answer.code == 3
    assert answer.err.startswith("error: There is no GPU here: nothing can be measured.")
    assert answer.err.splitlines()[-1] == "fix: track inspect 7"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("bench", "7", "--plot", "x.html"), "There is no GPU here"),
        (("bench", "1", "--mine"), "The file is still the skeleton"),
        (("bench", "8", "--mine"), "Day 8 is not started"),
        (("bench", "7", "--file", "none.py"), "There is no file none.py"),
        (("bench", "--all", "--file", "none.py"), "One file is no kernel of every day"),
    ],
)
def test_what_a_bench_cannot_do_is_told(started: Learner, words: tuple[str, ...], problem: str) -> None:
    started.environment["CUDA_VISIBLE_DEVICES"] = ""
    answer = started.types(*words)
    assert answer.code in (2, 3)
    assert problem in answer.err
    assert "fix: " in answer.err


def test_a_report_is_written_into_the_workspace_and_told(started: Learner) -> None:
    answer = started.types("report")
    assert answer.code == 0
    assert answer.out.splitlines()[-1].startswith("Next: track grade")
    written = (started.home / ".track" / "report.html").read_text(encoding="utf-8")
    assert catalog.find(DAY_1).title in written
    assert started.types("report", "--json").json["page"].endswith("report.html")


def test_a_report_takes_the_place_of_a_report_alone(started: Learner) -> None:
    mine = Path(started.folder, "mine.html")
    mine.write_text("mine")
    answer = started.types("report", "--out", "mine.html")
    assert answer.code == 2
    assert "stays as it is" in answer.err
    assert mine.read_text() == "mine"
    assert started.types("report", "--out", "new.html").code == 0
    assert started.types("report", "--out", "new.html").code == 0

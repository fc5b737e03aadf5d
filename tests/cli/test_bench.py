"""`track bench` without a GPU, and `track report`, as a learner types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import catalog
from tests.learner import DAY_1, Learner

DAY_7 = catalog.find("7")


def test_without_a_gpu_a_bench_says_so_and_what_is_predicted(learner: Learner) -> None:
    learner.environment["CUDA_VISIBLE_DEVICES"] = ""
    answer = learner.types("bench", "7")
    assert answer.code == 0
    assert answer.out.startswith("There is no GPU here: nothing is measured. Predicted for one H200:")
    assert "transpose/m=8192-n=8192-fp32" in answer.out
    assert answer.out.splitlines()[-1].startswith("Next: track inspect 7")
    document = learner.types("bench", "--all", "--json").json
    assert document["evidence"] == "predicted"
    assert len(document["rows"]) > 40
    assert all(row["ours_us"] > 0 and not row["yours_us"] for row in document["rows"])


def test_without_a_gpu_the_learners_own_time_is_predicted_too(learner: Learner) -> None:
    learner.environment["CUDA_VISIBLE_DEVICES"] = ""
    path = learner.folder / "mine.py"
    path.write_bytes(DAY_7.solution.read_bytes())
    (row,) = learner.types("bench", "7", "--file", str(path), "--json").json["rows"]
    assert row["yours_us"] == pytest.approx(row["ours_us"], rel=0.05)
    assert row["copy_us"] > 100
    assert "Next: track inspect 7 --file mine.py " in learner.types("bench", "7", "--file", "mine.py").out
    other = learner.types("bench", "8", "--file", "mine.py")
    assert other.err.splitlines()[-1] == "fix: track grade 8 --file mine.py"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("bench", "1"), "Day 1 has no speed bar"),
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

"""What students get runs, says plainly what it lacks, and its hand-ins come back as they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog
from grader.errors import TrackError
from grader.grading.cohort import student_edition
from grader.grading.cohort.submission import Submission
from grader.grading.cohort.submission_formats import read

DAYS = [catalog.find(key) for key in ("1", "7", "13", "find_the_bug_softmax")]
NOT_HERE = "Our solution of day 7 is not in this edition of the course."


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class") / "students"
    student_edition.write(folder, DAYS, solutions=False)
    return folder


def typed(folder: Path, *words: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "grader", *words]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert shown.returncode == code, shown.stdout + shown.stderr
    return shown.stdout + shown.stderr


def test_it_has_the_days_that_were_asked_for_and_no_solution(handed_out: Path) -> None:
    found = {path.parent.name for path in handed_out.glob("days/**/kernel.py")}
    assert found == {"day00_warm_up", *(day.place.rpartition("/")[2] for day in DAYS)}
    assert [path.name for path in handed_out.rglob("solutions/**/*") if path.is_file()] == [
        "day00_warm_up.py"
    ]
    assert not [*handed_out.glob("examples/tasks/*/solution.py")]
    assert "day02" not in (handed_out / "days" / "README.md").read_text(encoding="utf-8")
    for name in ("track", "grader/grading/cohort/schema.sql", "README.md", "examples/class.toml"):
        assert (handed_out / name).is_file()


def test_the_tour_runs(handed_out: Path) -> None:
    assert "That is the whole loop" in typed(handed_out, "tour")


def test_what_needs_a_solution_says_that_it_is_not_here(handed_out: Path) -> None:
    typed(handed_out, "start", "7")
    for words in (("solution", "7", "--yes"), ("inspect", "7", "--ours")):
        assert NOT_HERE in typed(handed_out, *words, code=2)
    for _ in range(3):
        shown = typed(handed_out, "hint", "7")
    assert "our solution is not in this edition" in shown
    assert "Day 2 is not in this edition" in typed(handed_out, "start", "2", code=2)
    assert len(json.loads(typed(handed_out, "status", "--json"))["days"]) == 3
    assert "Use a whole clone" in typed(handed_out, "cohort", "handout", "again", code=3)


def test_a_wrong_kernel_is_told_all_but_its_pieces_and_handed_in(handed_out: Path) -> None:
    typed(handed_out, "start", "7")
    assert "nothing to hand in" in typed(handed_out, "hand-in", "--name", "Ada Lovelace", code=2)
    kernel = handed_out / "my-track" / "day07_memory_coalescing" / "kernel.py"
    wrong = catalog.find("7").solution.read_text(encoding="utf-8").replace("tl.trans(mask)", "mask")
    kernel.write_text(wrong, encoding="utf-8")
    shown = typed(handed_out, "grade", "7", "--cpu", code=1)
    assert "Without our solution, how far each piece is cannot be told." in shown
    assert "Look at: " in shown
    assert "Whose work is it?" in typed(handed_out, "hand-in", code=2)
    assert "cannot be a name" in typed(handed_out, "hand-in", "--name", "../ada", code=2)
    assert "Day 7 · Memory coalescing  not passed yet" in typed(
        handed_out, "hand-in", "--name", "Ada Lovelace"
    )
    packed = handed_out / "my-track" / "Ada Lovelace.zip"
    items = [one for one in read(str(packed)).items if isinstance(one, Submission)]
    assert [(one.id, one.day.key, one.source) for one in items] == [("Ada Lovelace", 7, wrong.encode())]


def test_nothing_is_overwritten_and_no_day_lacks_what_it_takes(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(TrackError, match="is there already"):
        student_edition.write(tmp_path, DAYS, solutions=True)
    with pytest.raises(TrackError, match="takes attention of day 27, which is left out"):
        student_edition.write(tmp_path / "new", [catalog.find("self_attention")], solutions=False)
    assert not (tmp_path / "new").exists()

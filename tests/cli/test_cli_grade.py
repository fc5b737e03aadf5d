"""`track grade` from outside: real processes, real files, real days."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.learner import DAY_1, SOLUTION_1, Learner


def test_a_skeleton_is_not_yet_started_and_costs_no_process(started: Learner) -> None:
    begin = time.monotonic()
    answer = started.types("grade")
    assert answer.code == 1
    assert "Nothing to grade yet." in answer.out
    assert time.monotonic() - begin < 2
    assert started.records()[-1]["status"] == "unstarted"


def test_a_solution_passes_is_recorded_and_shown_as_done_on_the_cpu(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1)
    answer = started.types("grade", "--cpu")
    assert answer.code == 0, answer.out + answer.err
    assert "The day is done on CPU." in answer.out
    assert started.records()[-1]["status"] == "passed"
    assert started.types("status", "--json").json["days"][0]["state"] == "done on CPU"
    assert "done on CPU" in started.types("status").out


def test_a_wrong_kernel_is_told_why_and_how_to_see_it_again(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1.replace("2 * x + 1", "2 * x"))
    answer = started.types("grade", "--cpu", "--seed", "7")
    assert answer.code == 1
    assert "FAIL" not in answer.out
    assert "✗  correct" in answer.out
    assert "expected" in answer.out
    assert f"--seed 7 -k {started.records()[-1]['failed'][8:-1]}" in answer.out


def test_a_grading_into_an_ascii_pipe_is_ascii(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1.replace("2 * x + 1", "2 * x"))
    started.environment["PYTHONIOENCODING"] = "ascii"
    answer = started.types("grade", "--cpu")
    assert answer.code == 1
    assert "FAIL     correct" in answer.out
    assert (answer.out + answer.err).isascii()


def test_any_file_is_graded_from_any_folder_into_one_document_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    file = tmp_path / "meine Lösung.py"
    file.write_text(SOLUTION_1)
    folder = tmp_path / "empty"
    folder.mkdir()
    answer = Learner(folder).starts("grade", "1", "--file", str(file), "--json", "--cpu")
    assert answer.code == 0
    assert answer.json["schema"] == 1
    assert answer.json["status"] == "passed"
    assert sorted(os.listdir(tmp_path)) == ["empty", "meine Lösung.py"]
    assert os.listdir(folder) == []


def test_a_file_beside_the_workspace_is_not_recorded(started: Learner) -> None:
    before = started.journal.read_bytes()
    (started.folder / "other.py").write_text(SOLUTION_1)
    answer = started.types("grade", "1", "--file", "other.py", "--cpu")
    assert answer.code == 0
    assert "The day is done" not in answer.out
    assert started.journal.read_bytes() == before


def test_one_case_is_graded_alone_and_is_no_pass(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1)
    names = [check["name"] for check in started.types("grade", "--json", "--cpu").json["checks"]]
    case = next(name for name in names if name.startswith("correct["))[8:-1]
    started.journal.write_text("")
    answer = started.types("grade", "1", "-k", case, "--cpu")
    assert answer.code == 0
    assert "passed." in answer.out
    assert started.types("status", "--json").json["days"][0]["state"] == "new"


def test_the_day_is_the_folder_one_stands_in(started: Learner) -> None:
    started.types("start", "13")
    answer = started.types("grade", "--json", cwd=started.home / DAY_1)
    assert answer.json["day"] == 1


def test_an_error_is_a_document_too_when_json_was_asked_for(learner: Learner) -> None:
    answer = learner.types("grade", "99", "--json")
    assert answer.code == 2
    assert answer.json["error"] == {
        "problem": "There is no day 99: the last one is day 35.",
        "fix": "track list",
    }


def test_a_gpu_that_is_not_there_is_code_3(started: Learner) -> None:
    if list(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("this machine has a GPU")
    started.kernel(DAY_1).write_text(SOLUTION_1)
    answer = started.types("grade", "--gpu")
    assert answer.code == 3
    assert "There is no NVIDIA GPU here." in answer.err
    assert answer.err.splitlines()[-1] == "fix: track grade 1 --cpu"


def test_a_grading_that_is_stopped_leaves_journal_and_file_as_they_were(started: Learner) -> None:
    endless = SOLUTION_1 + "\nimport time\ntime.sleep(600)\n"
    started.kernel(DAY_1).write_text(endless)
    before = started.journal.read_bytes()
    # Whoever runs the tests in the background of a shell has handed down that Ctrl-C is ignored.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    words = [sys.executable, "-c", heeding + "from grader.__main__ import main; main()", "grade", "--cpu"]
    options = {"cwd": started.folder, "env": started.surroundings(), "text": True, "start_new_session": True}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload]
    assert process.stdout is not None
    assert any("loading" in line for line in process.stdout)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    told = "Stopped. Nothing was recorded, your file is untouched.\n\nNext: track grade --cpu"
    assert error.strip() == told
    assert started.journal.read_bytes() == before
    assert started.kernel(DAY_1).read_text() == endless


def test_two_gradings_at_once_are_both_recorded(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1)
    words = [sys.executable, "-m", "grader", "grade", "1", "--cpu"]
    options = {"cwd": started.folder, "env": started.surroundings(), "stdout": subprocess.DEVNULL}
    both = [subprocess.Popen(words, **options) for _ in range(2)]  # type: ignore[call-overload]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert [record["event"] for record in started.records()] == ["started", "graded", "graded"]

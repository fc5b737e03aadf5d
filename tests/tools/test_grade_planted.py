"""The proof keeps what each planted file got, and goes on where it stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.setup import nvidia
from grader.verdict import SpeedResult
from tools import grade_in_parallel
from tools.check_planted import Tried, planned, sha256
from tools.grade_planted import Record, lines, main

ADDING = catalog.find("8")
SPEED = SpeedResult("measured", 10.0, 12.0, 11.0, 9.0, 0.9, 1.1, "0.75 of copy", 1.2, (1.1, 1.3), 9)


def test_what_was_right_is_known_until_the_file_or_its_tests_change(tmp_path: Path) -> None:
    ours, other = list(planned(ADDING, on_gpu=False))[:2]
    got = Tried("8", ours.kind, ours.name, sha256(ours), "cpu", False, "passed", speed=SPEED)
    record = Record(tmp_path / "proof.jsonl")
    record.keep(replace(got, wrong=("slow today",)))
    assert Record(record.path).right(ours, "cpu", False) is None, "what was wrong is graded again"
    record.keep(got)
    again = Record(record.path)
    assert again.right(ours, "cpu", False) == got
    assert again.right(other, "cpu", False) is again.right(ours, "gpu", False) is None
    Path(record.path or "").write_text(replace(got, sha256="0").written() + "\n")
    assert Record(record.path).right(ours, "cpu", False) is None


def test_by_values_alone_no_laggard_can_be_told() -> None:
    kinds: dict[str, set[bool]] = {}
    for one in planned(ADDING, on_gpu=True):
        kinds.setdefault(one.kind, set()).add(one.by_values)
    assert kinds["solution"] == kinds["right"] == {True}
    assert kinds["laggard"] == {False}
    assert True in kinds["mistake"]


def test_a_row_names_what_is_wrong() -> None:
    got = Tried("8", "solution", "ours", "0", "gpu", False, "passed", speed=SPEED)
    slow = replace(got, kind="laggard", name="blocks of 32", wrong=("passed (1.18 of the bar)",))
    row, below = lines(ADDING, [got, slow])
    assert "| 0.0100 | 0.010 | 0.0110 | 0.0090 |" in row
    assert below == "    laggard blocks of 32: passed (1.18 of the bar)"


def test_work_is_spread_over_the_gpus_that_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    one = nvidia.InstalledGpu("T4", "", (7, 5), 1, "")
    monkeypatch.setattr(nvidia, "gpus", lambda: (one, one))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert grade_in_parallel.visible("gpu") == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert grade_in_parallel.visible("gpu") == ["3", "5"]
    assert grade_in_parallel.visible("cpu") == [""]


def test_each_of_several_has_cores_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 5, 6, 7})
    assert [grade_in_parallel._share(at, 2) for at in range(2)] == [{4, 6}, {5, 7}]
    assert [grade_in_parallel._share(at, 8) for at in range(8)] == [{4}, {5}, {6}, {7}] * 2
    assert grade_in_parallel._share(0, 1) == {4, 5, 6, 7}


def test_what_is_started_meanwhile_keeps_its_cores_and_who_started_it_has_all() -> None:
    before, shows = os.sched_getaffinity(0), "import os; print(len(os.sched_getaffinity(0)))"
    with grade_in_parallel.on_cores({min(before)}):
        assert subprocess.check_output([sys.executable, "-c", shows]).strip() == b"1"
    assert os.sched_getaffinity(0) == before


def test_where_nothing_is_to_be_graded_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["proof", "--gpu", "--values", "--only", "exploit", "8"])
    with pytest.raises(SystemExit, match="Nothing that is planted there"):
        main()

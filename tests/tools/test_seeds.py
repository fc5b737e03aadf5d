"""`track dev seeds` tries right kernels with many seeds, and shows how to replay what fails."""

from __future__ import annotations

from pathlib import Path

from grader.course import catalog
from grader.grading.warm_client import Warm
from tools.seeds import Row, lines, rate, right, scan

ADDING = catalog.find("8")


def test_the_solution_passes_and_a_slip_is_told_with_its_seed(tmp_path: Path, warm: Warm) -> None:
    slip = tmp_path / "kernel.py"
    slip.write_text(ADDING.solution.read_text().replace("x + y", "x - y"))
    good, bad = Row(ADDING, ADDING.solution), Row(ADDING, slip)
    scan(good, warm, range(1, 3), "n=1-")
    scan(bad, warm, range(1, 3), "n=1-")
    assert (good.failed, bad.tried) == ([], good.tried)
    assert {entry["seed"] for entry in bad.failed} == {1, 2}
    told = "\n".join(lines(bad, "cpu"))
    assert "--cpu --seed 1 -k " in told


def test_what_passes_by_little_is_said_to_come_near(tmp_path: Path, warm: Warm) -> None:
    by_little = tmp_path / "kernel.py"
    by_little.write_text(ADDING.solution.read_text().replace("x + y", "(x + y) * 1.000009"))
    row = Row(ADDING, by_little)
    scan(row, warm, range(1, 3), "n=1023-")
    assert (row.failed, {entry["seed"] for entry in row.near}) == ([], {1, 2})
    assert "near, 2 of these seeds: n=1023" in "\n".join(lines(row, "cpu"))


def test_a_day_is_tried_with_its_solution_and_its_right_files() -> None:
    files = list(right(ADDING))
    assert files[0] == ADDING.solution
    assert {path.parent.name for path in files[1:]} == {ADDING.place}


def test_the_error_rate_is_said_with_what_it_rests_on() -> None:
    assert rate(3000, 0).endswith("with 95 % confidence fewer than 1.0e-03 of them do.")
    assert rate(3000, 2) == "2 of 3,000 cases of right kernels failed."
    assert rate(0, 0) == "0 of 0 cases of right kernels failed."

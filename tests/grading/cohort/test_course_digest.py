"""A change of one day's files grades that day again, and no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.course import catalog
from grader.grading.cohort import course_digest

DAYS = [catalog.find(key) for key in ("1", "20", "self_attention")]


@pytest.mark.parametrize(
    ("changed", "days"),
    [
        ("days/day20_split_k_algorithm/hidden_tests.py", {"20"}),
        ("solutions/day01_hello_triton.py", {"1"}),
        ("days/day20_split_k_algorithm/README.md", set()),
        ("solutions/day27_simplified_flash_attention.py", set()),
    ],
)
def test_a_change_is_its_days_own(
    changed: str, days: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tree in ("days", "solutions"):
        shutil.copytree(catalog.ROOT / tree, tmp_path / tree)
    monkeypatch.setattr(catalog, "ROOT", tmp_path)
    of_day = course_digest.of_day.__wrapped__
    before = {str(day.key): of_day(day) for day in DAYS}
    with (tmp_path / changed).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert {str(day.key) for day in DAYS if of_day(day) != before[str(day.key)]} == days


def test_a_solution_counts_where_another_takes_it() -> None:
    taken = {one.day.key for one in course_digest.taken(*_files("self_attention"))}
    assert taken
    assert course_digest.of_day(catalog.find("self_attention")) != course_digest.of_day(catalog.find("1"))


def _files(key: str) -> tuple[Path, Path, bytes]:
    day = catalog.find(key)
    return day.hidden_tests, day.solution, day.solution.read_bytes()

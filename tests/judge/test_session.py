"""Hidden tests are loaded with what lies beside them, and without mixing days, courses or times."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from grader.challenge.loading import load_challenges

HIDDEN = """
from grader.challenge import Case, Challenge
from .suspects import SUSPECTS

challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: x, [Case(n=4)], suspects=SUSPECTS)
"""


def day(folder: Path, sentence: str) -> Path:
    """Hidden tests with one suspect beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suspects.py").write_text(f"SUSPECTS = {{{sentence!r}: lambda x: 2 * x}}\n", encoding="utf-8")
    path = folder / "hidden_tests.py"
    path.write_text(HIDDEN, encoding="utf-8")
    return path


def suspected(path: Path) -> list[str]:
    return [sentence for challenge in load_challenges(path) for sentence in challenge.suspects]


def test_hidden_tests_import_what_lies_beside_them(tmp_path: Path) -> None:
    before = list(sys.path)
    assert suspected(day(tmp_path / "day01_one", "It is doubled.")) == ["It is doubled."]
    assert sys.path == before


def test_days_and_courses_in_one_process_do_not_mix(tmp_path: Path) -> None:
    places = [
        tmp_path / "days" / "day01_one",
        tmp_path / "days" / "day02_two",
        tmp_path / "other" / "day01_one",
    ]
    paths = [day(place, f"It is number {index}.") for index, place in enumerate(places)]
    for _ in range(2):
        assert [suspected(path) for path in paths] == [[f"It is number {index}."] for index in range(3)]


def test_every_load_makes_modules_of_its_own(tmp_path: Path) -> None:
    path = day(tmp_path / "day01_one", "It is doubled.")
    (one,), (two,) = load_challenges(path), load_challenges(path)
    assert one is not two
    assert one.suspects is not two.suspects


def test_a_file_that_comes_into_the_folder_later_is_found(tmp_path: Path) -> None:
    path = day(tmp_path / "day01_one", "It is doubled.")
    path.write_text(HIDDEN.replace(".suspects", ".suspects2"), encoding="utf-8")
    (path.parent / "suspects2.py").write_text("SUSPECTS = {'Later.': abs}\n", encoding="utf-8")
    assert suspected(path) == ["Later."]


def test_a_changed_file_is_seen_by_the_next_load(tmp_path: Path) -> None:
    told = []
    for age, sentence in ((100, "Old."), (50, "New.")):
        path = day(tmp_path / "day01_one", sentence)
        for file in path.parent.glob("*.py"):  # compiled files cannot tell two changes of one second apart
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime - age))
        told.append(suspected(path))
    assert told == [["Old."], ["New."]]

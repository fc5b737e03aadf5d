"""Whatever stands in a day's hidden tests: a grading that cannot be is one line, and no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError
from grader.grading.grade import grade
from grader.grading.warm_client import Warm

DAY = catalog.find("1")
TESTS = DAY.hidden_tests.read_text(encoding="utf-8")

BROKEN = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "no Python": b"challenge = (",
    "an exit": b"raise SystemExit(0)\n",
    "a number": b"challenge = 3\n",
    "no entry": TESTS.replace("Challenge(", "Challenge(entry_=0, ").encode(),
    "no cases": (TESTS + "\nobject.__setattr__(challenge, 'cases', None)\n").encode(),
    "a case that is none": (TESTS + "\nobject.__setattr__(challenge, 'cases', [1])\n").encode(),
    "a reference that raises": (TESTS + "\nobject.__setattr__(challenge, 'reference', 0)\n").encode(),
    "inputs that raise": (TESTS + "\nobject.__setattr__(challenge, 'inputs', lambda *_: 1 / 0)\n").encode(),
}


@dataclass(frozen=True)
class Odd(Day):
    """Day 1 with other hidden tests."""

    tests: Path = Path()

    @property
    def hidden_tests(self) -> Path:
        return self.tests


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_hidden_tests_that_are_none_are_one_line(source: bytes, tmp_path: Path, warm: Warm) -> None:
    tests = tmp_path / "hidden_tests.py"
    tests.write_bytes(source)
    with pytest.raises(TrackError) as told:
        grade(Odd(DAY.number, DAY.slug, tests), DAY.solution, warm=warm)
    assert told.value.exit_code == 3
    assert "\n" not in told.value.problem
    assert told.value.fix

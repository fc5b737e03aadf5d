"""Which functions a day asks for, and which days a file may be for."""

from __future__ import annotations

import pytest

from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.course.entry_functions import askers, entries, readers


def test_every_day_has_the_entries_of_its_challenges() -> None:
    for day in catalog.course():
        asked = {challenge.entry for challenge in load_challenges(day.hidden_tests)}
        assert entries(day) == (asked if day.to_fill_in else set()), day.stem


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["softmax", "softmax_kernel"], [13, 14]),
        (["add", "add_kernel"], [8]),
        (["add", "softmax"], []),  # either may be meant
        (["helper"], []),
    ],
)
def test_a_file_is_for_the_days_that_ask_for_its_functions(names: list[str], keys: list[int]) -> None:
    assert [day.key for day in askers(names)] == keys


def test_of_a_file_that_is_no_python_nothing_is_said() -> None:
    assert readers(b"def add(:") == []
    assert readers(b"\xff\x00") == []

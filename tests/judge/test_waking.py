"""What each case asks of a GPU can be asked of a CPU, too: it waits for nothing that only a grading has."""

from __future__ import annotations

from unittest import mock

from grader.judge import waking
from grader.judge.case.draw import VALUES


def tried(enough: list[bool]) -> int:
    """How many cases are gone through where something else is waited for as these say."""
    with mock.patch.object(waking, "_try", wraps=waking._try) as one:
        waking.rehearse("cpu", iter(enough).__next__)
    return one.call_count


def test_three_dtypes_and_all_kinds_of_values_are_gone_through() -> None:
    count = 3 + len(VALUES)
    assert tried([False] * count) == count


def test_who_is_waited_for_stops() -> None:
    assert tried([False, True]) == 1

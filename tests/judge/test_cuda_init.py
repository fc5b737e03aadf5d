"""What each case asks of a GPU can be asked of a CPU, too: it waits for nothing that only a grading has."""

from __future__ import annotations

from unittest import mock

from grader.judge import cuda_init


def tried(enough: list[bool]) -> int:
    """How many cases are gone through where something else is waited for as these say."""
    with mock.patch.object(cuda_init, "expect", wraps=cuda_init.expect) as one:
        cuda_init.rehearse("cpu", iter(enough).__next__)
    return one.call_count


def test_three_dtypes_are_gone_through() -> None:
    assert tried([False] * 3) == 3


def test_who_is_waited_for_stops() -> None:
    assert tried([False, True]) == 1

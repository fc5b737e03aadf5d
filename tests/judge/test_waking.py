"""What each case asks of a GPU can be asked of a CPU, too: it waits for nothing that only a grading has."""

from __future__ import annotations

from grader.judge import waking


def test_all_is_rehearsed_and_only_once() -> None:
    waking.rehearse("cpu")
    assert not waking._left


def test_who_is_waited_for_stops_and_goes_on_later() -> None:
    waking._left[:] = [(waking._doubled, waking.Case(n=8))] * 2
    answers = iter([False, True])
    waking.rehearse("cpu", lambda: next(answers))
    assert len(waking._left) == 1
    waking.rehearse("cpu")
    assert not waking._left

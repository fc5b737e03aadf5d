"""What stands by has gone through a case: one that is right."""

from __future__ import annotations

from grader.judge.waking import rehearse


def test_a_case_is_gone_through_and_is_right() -> None:
    rehearse("cpu")

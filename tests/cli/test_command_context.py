"""What follows a day, by how its gradings went."""

from __future__ import annotations

import pytest

from grader.cli.command_context import Standing
from grader.course import catalog
from grader.course.learner.journal import Journal, Progress


@pytest.mark.parametrize(
    ("last", "goes_on"), [("passed", True), ("", True), ("slow", False), ("failed", False)]
)
def test_a_day_that_is_done_and_fails_again_is_graded_before_the_next_one(last: str, goes_on: bool) -> None:
    day = catalog.find("14")
    here = Standing(None, Journal(), {day.key: Progress(on_cpu=True, last=last)}, day)
    assert (here.passed(day) is not None) == goes_on

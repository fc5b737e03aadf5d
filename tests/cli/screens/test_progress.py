"""What a pass brings, beside the map that it fills."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import pytest

from grader.cli.screens import progress
from grader.course import catalog
from grader.course.learner.journal import Progress


@pytest.mark.parametrize(("ago", "row"), [((0, 1, 2), ", 3 days in a row"), ((1, 2), ""), ((0, 2), "")])
def test_a_pass_says_what_is_known_now_and_counts_dates_in_a_row(ago: Sequence[int], row: str) -> None:
    now = datetime.now(timezone.utc)
    records = [{"at": (now - timedelta(days)).isoformat(), "status": "passed"} for days in ago]
    records += [{"at": now.isoformat(), "status": "failed"}, {"at": None, "status": "passed"}]
    told = progress.gained({8: Progress(on_cpu=True)}, catalog.find("8"), records)
    assert told[0].startswith("What you know now: arithmetic intensity, roofline, do_bench")
    assert told[1:] == [f"1 of 35 days done{row}."]


def test_every_pass_has_words_of_the_syllabus() -> None:
    assert all(len(progress.gained({}, day, [])) == 2 for day in catalog.course())

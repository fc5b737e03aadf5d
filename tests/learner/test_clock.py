"""Where the clock was set back, what happened last is still what happened last."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.learner import handout, journal, workspace

DAY = catalog.find("1")


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> workspace.Workspace:
    monkeypatch.setenv("TRACK_HOME", str(tmp_path / "my-track"))
    made = workspace.create()
    handout.start(made, DAY)
    return made


class Clock(datetime):
    """One that a test sets."""

    ahead = timedelta()

    @classmethod
    def now(cls, tz: timezone | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(journal, "datetime", Clock)
    monkeypatch.setattr(Clock, "ahead", timedelta())
    return Clock


def test_progress_follows_the_order_of_the_lines(found: workspace.Workspace, clock: type[Clock]) -> None:
    for status, ahead in (("passed", 0.0), ("failed", -1.0)):
        clock.ahead = timedelta(days=ahead)
        journal.append(found.journal, "graded", 1, status=status, on_gpu=False, failed="")
    records = journal.read(found.journal).records
    assert records[0]["at"] > records[1]["at"]
    assert (journal.fold(records)[1].last, journal.fold(records)[1].done) == ("failed", True)

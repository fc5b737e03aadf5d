"""Where the seconds of a grading go."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import catalog
from tools import seconds


def test_the_seconds_of_a_grading_are_split_and_add_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seconds, "TIMES", 1)
    assert seconds.run(["1"], "cpu") == 0
    header, *rows = capsys.readouterr().out.splitlines()[1:]
    assert len(rows) == 2, "a cold grading and one from a warm parent"
    cold, watched = ([float(number) for number in row.split()[2:]] for row in rows)
    total, first, imported, *_ = cold
    assert 0 < first < total
    assert 0 < imported < first
    assert watched[2] == 0, "the parent had imported all before"
    assert header.split()[-1] == "timing"


def test_a_grading_that_fails_our_solution_is_told_with_its_seed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def hello():\n    return None\n")
    monkeypatch.setattr(seconds, "TIMES", 1)
    monkeypatch.setattr(catalog.Day, "solution", property(lambda _: wrong))
    seconds.run(["1"], "cpu")
    told = capsys.readouterr().out.splitlines()[3]
    assert told.startswith("      seed ")
    assert " failed: " in told

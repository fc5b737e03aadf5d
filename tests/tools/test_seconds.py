"""Where the seconds of a grading go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.course import catalog
from grader.verdict import Check, Verdict
from tools import seconds


def test_the_seconds_of_a_grading_are_split_and_what_fails_our_solution_is_told_with_its_seed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(catalog.find("1").solution.read_text().replace("2 * x + 1\n", "2 * x\n"))
    monkeypatch.setattr(seconds, "TIMES", 1)
    monkeypatch.setattr(catalog.Day, "solution", property(lambda _: wrong))
    assert seconds.run(["1"], "cpu") == 0
    header, *rows = capsys.readouterr().out.splitlines()[1:]
    assert len(rows) == 4, "a cold grading and one from a warm parent, and what each says"
    cold, watched = ([float(number) for number in row.split()[2:]] for row in rows[::2])
    total, first, imported, *_ = cold
    assert 0 < first < total
    assert 0 < imported < first
    assert watched[2] == 0, "the parent had imported all before"
    assert header.split()[-1] == "timing"
    assert all(re.match(r"      seed \d+: correct.* failed: ", told) for told in rows[1::2])
    assert seconds._failure(Verdict(1, "passed", 1, "cpu", {}, (Check("imports", "passed"),))) == ""

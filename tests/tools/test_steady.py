"""The kernels nearest to each bar, graded again and again: who they are, and what is kept of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from grader.cli.screens import Terminal
from grader.course import catalog
from tests.shown import Screen
from tools import steady
from tools.check_planted import Planted, sha256
from tools.steady import Graded

DAY = catalog.find("13")


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """By kind the status that each grading of it gets; `passed` else. No GPU is needed."""
    told: dict[str, str] = {"laggard": "slow"}

    def each(work: object, items: Sequence[Planted], device: str, jobs: int) -> Iterator[Graded]:
        for one in items:
            key = str(one.day.key), one.kind, one.name, sha256(one)
            yield Graded(*key, told.get(one.kind, "passed"), 1.25)

    monkeypatch.setattr(steady, "each", each)
    monkeypatch.setattr(steady, "choose_device", lambda device: device)
    return told


def test_the_nearest_on_either_side_and_ours_are_graded() -> None:
    assert [one.kind for one in steady.nearest([DAY], math.inf)] == ["solution", "right", "laggard"]
    assert [one.kind for one in steady.nearest([DAY], 1.3)] == ["right", "laggard"]


def test_what_was_graded_is_kept_and_only_the_rest_is_graded(
    tmp_path: Path, verdicts: dict[str, str]
) -> None:
    file = tmp_path / "gradings.jsonl"
    assert steady.report(Terminal(Screen()), file, [DAY], 2, math.inf) == 0
    verdicts["right"] = "slow"
    screen = Screen()
    assert steady.report(Terminal(screen), file, [DAY], 3, math.inf) == 1
    assert "2 passed, 1 slow" in screen.shown
    assert "1 of these verdicts" in screen.shown
    assert len(file.read_text().splitlines()) == 9


def test_an_edited_file_is_graded_anew(tmp_path: Path, verdicts: dict[str, str]) -> None:
    file = tmp_path / "gradings.jsonl"
    old = Graded("13", "solution", DAY.stem, "another source", "slow", 0.5)
    file.write_text(json.dumps(asdict(old)) + "\n")
    assert steady.report(Terminal(Screen()), file, [DAY], 1, math.inf) == 0


def test_a_laggard_that_stores_too_much_fails_before_it_is_timed(
    verdicts: dict[str, str], tmp_path: Path
) -> None:
    sampling = catalog.find("sampling")
    assert steady.report(Terminal(Screen()), tmp_path / "one.jsonl", [sampling], 1, math.inf) == 1
    verdicts["laggard"] = "failed"
    assert steady.report(Terminal(Screen()), tmp_path / "two.jsonl", [sampling], 1, math.inf) == 0

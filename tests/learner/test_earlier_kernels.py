"""What `from mine import …` brings: the learner's own kernel in the state in which it passed, else ours."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import journal
from grader.course.learner.earlier_kernels import Earlier, brought, taken
from grader.course.learner.workspace import Workspace
from tests.conftest import Grade

EXTRA = catalog.find("self_attention")
ATTENTION = catalog.find("27")
SOURCE = b"from mine import attention\n"
ONE = "b=1-s=1-h=1-d=16-fp32"
OURS = ATTENTION.solution.read_text(encoding="utf-8")
RAISES = "\n\ndef attention(*_):\n    raise ValueError('this is my own')\n"


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "my-track")
    for day in (EXTRA, ATTENTION):
        workspace.folder(day).mkdir(parents=True)
    workspace.hidden.mkdir()
    return workspace


def passed(workspace: Workspace, day: Day, source: str, **facts: str) -> None:
    """The learner's file holds this, and the journal has a pass of it."""
    workspace.kernel(day).write_text(source, encoding="utf-8")
    sha256 = hashlib.sha256(source.encode()).hexdigest()
    journal.append(workspace.journal, "graded", day.key, **{"status": "passed", "sha256": sha256, **facts})


def found(workspace: Workspace, source: bytes = SOURCE, extra: Day = EXTRA) -> list[Earlier]:
    return list(taken(extra.hidden_tests, workspace.kernel(extra), source))


def test_without_a_workspace_it_is_ours(tmp_path: Path) -> None:
    [one] = taken(EXTRA.hidden_tests, tmp_path / "kernel.py", SOURCE)
    assert (one.name, one.day, one.source, one.own) == ("attention", ATTENTION, OURS, False)
    assert one.told == "attention of day 27: ours; yours is taken once it has passed as it stands"


def test_a_file_that_passed_is_taken(place: Workspace) -> None:
    passed(place, ATTENTION, "# mine\n")
    [one] = found(place)
    assert (one.source, one.path, one.own) == ("# mine\n", str(place.kernel(ATTENTION)), True)
    assert one.told == "attention of day 27: yours"


def test_a_file_that_changed_since_is_not(place: Workspace) -> None:
    passed(place, ATTENTION, "# mine\n")
    place.kernel(ATTENTION).write_text("# and on\n", encoding="utf-8")
    assert not found(place)[0].own


@pytest.mark.parametrize("facts", [{"status": "failed"}, {"only": ONE}])
def test_a_grading_that_is_no_pass_does_not_count(place: Workspace, facts: dict[str, str]) -> None:
    passed(place, ATTENTION, "# mine\n", **facts)
    assert not found(place)[0].own


def test_the_pass_of_another_day_does_not_count(place: Workspace) -> None:
    passed(place, ATTENTION, "# mine\n")
    place.journal.write_text(place.journal.read_text().replace('"day": 27', '"day": 28'))
    assert not found(place)[0].own


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("softmax", "14"),
        ("rope", "rope"),
        ("cross_entropy", "cross_entropy"),
        ("attention", "27"),
        ("gelu", "activations"),
    ],
)
def test_a_name_is_that_of_the_last_day_that_asks_for_it(place: Workspace, name: str, day: str) -> None:
    [one] = found(place, f"from mine import {name}\n".encode())
    assert one.day == catalog.find(day)


def test_a_helper_of_that_name_is_not_what_a_day_asks_for() -> None:
    for name, day in (("add", "8"), ("flash_forward", "32")):
        one = brought(name, Path("/nowhere/try.py"))
        assert one is not None
        assert one.day == catalog.find(day)
    assert brought("column_sum", Path("/nowhere/try.py")) is None


def test_what_comes_later_and_the_extra_itself_are_not_there(place: Workspace) -> None:
    assert not found(place, b"from mine import flash_attention, self_attention, nothing\n")


@pytest.mark.parametrize("source", [b"import torch\n", b"from mine import\n", b"from .mine import rope\n"])
def test_a_file_that_takes_nothing_gets_nothing(place: Workspace, source: bytes) -> None:
    assert not found(place, source)


def test_it_is_imported_where_kernels_run(graded: Grade, place: Workspace) -> None:
    path = place.kernel(EXTRA)
    path.write_text(EXTRA.solution.read_text(encoding="utf-8"), encoding="utf-8")
    passed(place, ATTENTION, OURS + RAISES)
    told: list[dict[str, Any]] = []
    verdict = graded(EXTRA.key, path, only=ONE, on_event=told.append)
    assert told[0] == {"event": "taken", "text": "attention of day 27: yours"}
    assert verdict.status == "failed"
    assert "this is my own" in str(verdict.failed)
    place.kernel(ATTENTION).write_text(OURS, encoding="utf-8")
    assert graded(EXTRA.key, path, only=ONE).status == "passed"

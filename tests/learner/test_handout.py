"""What becomes of a learner's files when the course has newer ones: nothing of theirs is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import handout, workspace
from tests.learner import Learner

TEN = catalog.days()[:10]


def an_older_course(found: workspace.Workspace, day: Day) -> bytes:
    """A day as a course two versions back handed it out: an import less. Returns its skeleton."""
    handout.start(found, day)
    ours = day.skeleton.read_bytes()
    older = ours.replace(b"import triton\n", b"", 1).replace(b'"""', b'"""Once: ', 1)
    for path in (found.copies(day) / "kernel.py", found.kernel(day)):
        path.write_bytes(older)
    return older


def worked_on(older: bytes) -> bytes:
    """The learner's change: far from what the course changed."""
    return older + b"\n\ndef helper():\n    return 'mine'\n"


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> workspace.Workspace:
    monkeypatch.chdir(tmp_path)
    return workspace.create()


def test_work_in_ten_days_of_an_older_course_is_kept(found: workspace.Workspace) -> None:
    for day in TEN:
        found.kernel(day).write_bytes(worked_on(an_older_course(found, day)))
    assert handout.outdated(found) == list(TEN)
    for day in TEN:
        before = found.kernel(day).read_bytes()
        assert handout.start(found, day)["kernel.py"] == "yours"
        assert found.kernel(day).read_bytes() == before


def test_what_was_not_touched_becomes_the_newer_one(found: workspace.Workspace) -> None:
    an_older_course(found, TEN[0])
    assert handout.foretell(found, TEN[0]) == {"kernel.py": "upgraded"}
    assert handout.start(found, TEN[0])["kernel.py"] == "upgraded"
    assert found.kernel(TEN[0]).read_bytes() == TEN[0].skeleton.read_bytes()
    assert not (found.hidden / "trash").exists(), "nothing of the learner's was in the way"


def test_an_equal_file_is_the_newer_one_already(found: workspace.Workspace) -> None:
    an_older_course(found, TEN[0])
    found.kernel(TEN[0]).write_bytes(TEN[0].skeleton.read_bytes())
    assert handout.outdated(found) == []
    assert handout.start(found, TEN[0])["kernel.py"] == "kept"
    assert not handout.files(found, TEN[0])["kernel.py"].news


def test_upgrade_says_what_it_would_do_and_does_it_when_told(learner: Learner) -> None:
    learner.environment["TRACK_HOME"] = str(learner.home)
    assert "No day was started" in learner.types("upgrade").err
    learner.types("start", "1")
    found = workspace.Workspace(learner.home)
    mine = worked_on(an_older_course(found, TEN[0]))
    found.kernel(TEN[0]).write_bytes(mine)
    an_older_course(found, TEN[1])
    assert "newer files for 2 days" in learner.types().out

    told = learner.types("upgrade").out
    assert "untouched: becomes the newer one" in told
    assert "stays yours" in told
    assert "+import triton" in told, "what changed is shown where it is not taken"
    assert told.rstrip().endswith("Next: track upgrade --yes   does that"), told
    assert found.kernel(TEN[1]).read_bytes() != TEN[1].skeleton.read_bytes(), "nothing changed yet"

    assert "is now the course's newer one" in learner.types("upgrade", "--yes").out
    assert found.kernel(TEN[0]).read_bytes() == mine
    assert found.kernel(TEN[1]).read_bytes() == TEN[1].skeleton.read_bytes()
    assert json.loads(learner.types("upgrade", "--json").out)["days"] == {}
    assert "nothing newer for Day 2" in learner.types("upgrade", "2").out

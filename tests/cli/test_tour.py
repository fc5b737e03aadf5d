"""`track tour` plays the whole loop for real and leaves nothing behind."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cli import tour
from grader.course import catalog
from tests import environments
from tests.learner import Learner


def play(cwd: Path, **surroundings: str) -> subprocess.CompletedProcess[str]:
    folder = cwd / "tmp"
    folder.mkdir()
    around = environments.plain(PYTHONPATH=str(catalog.ROOT), TMPDIR=str(folder), **surroundings)
    return subprocess.run(
        [sys.executable, "-m", "grader", "tour"],
        cwd=cwd,
        env=around,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tour_goes_from_skeleton_to_pass_and_ends_with_the_learners_own_day(tmp_path: Path) -> None:
    home = tmp_path / "mine"
    home.mkdir()
    told = play(tmp_path, TRACK_HOME=str(home), TRACK_COMMAND="./track")
    assert told.returncode == 0, told.stderr + told.stdout
    story = [
        "./track start 0",
        "Nothing to grade yet",
        "Not yet",
        "Passed",
        "That is the whole loop",
    ]
    places = [told.stdout.index(words) for words in story]
    assert places == sorted(places)
    assert told.stdout.rstrip().splitlines()[-1].startswith("Next: ./track start 1")
    assert list(home.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "tmp"]
    assert not list((tmp_path / "tmp").glob("track-tour-*"))
    assert "past the end" in told.stdout[places[2] : places[3]], "the broken kernel is told what is missing"


def test_the_slip_is_one_line_of_the_solution() -> None:
    assert catalog.WARM_UP.solution.read_text(encoding="utf-8").count(tour.SLIP[0]) == 1


def test_the_warm_up_counts_for_nothing_and_day_1_comes_after_it(learner: Learner) -> None:
    learner.types("start", "0")
    assert " 0 of " in learner.types("status").out.splitlines()[0]
    learner.kernel(catalog.WARM_UP.stem).write_text(catalog.WARM_UP.solution.read_text())
    assert learner.types("grade").out.splitlines()[-1].startswith("Next: track start 1")
    assert catalog.WARM_UP not in catalog.course()


def test_a_grading_that_goes_otherwise_is_reported_and_not_praised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = environments.clone(tmp_path / "clone")
    solution = clone / "solutions" / f"{catalog.WARM_UP.stem}.py"
    solution.write_text(
        solution.read_text().replace("tl.load(x_ptr + source)", "0 * tl.load(x_ptr + source)")
    )
    around = environments.plain(PYTHONPATH=str(clone))
    told = subprocess.run(
        [sys.executable, "-m", "grader", "tour"],
        cwd=tmp_path,
        env=around,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 3
    assert "the tour expects" in told.stderr


def test_on_a_terminal_it_takes_a_quarter_of_a_minute(tmp_path: Path) -> None:
    """No timed promise: only that it plays to its end where lines are redrawn."""
    ours, theirs = pty.openpty()
    around = environments.plain(PYTHONPATH=str(catalog.ROOT), TERM="xterm", COLUMNS="80")
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "tour"], cwd=tmp_path, env=around, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass  # Linux says EIO when the other side has closed
    assert process.wait() == 0, shown.decode(errors="replace")
    assert "your own day 1" in shown.decode(errors="replace")

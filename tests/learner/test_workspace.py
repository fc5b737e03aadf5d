"""The learner's folder: found from anywhere, filled once, never overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.course.learner import handout, journal, trash, workspace
from grader.errors import BadSubmission, NoWorkspace
from tests.learner import SKELETON, day

pytestmark = pytest.mark.usefixtures("course")


@pytest.fixture
def found() -> workspace.Workspace:
    made = workspace.create()
    handout.start(made, day(2))
    return made


def test_without_a_start_there_is_no_workspace() -> None:
    assert workspace.find() is None
    with pytest.raises(NoWorkspace) as caught:
        workspace.require()
    assert caught.value.fix == "track start 1"


def test_it_is_made_in_the_folder_one_stands_in() -> None:
    assert workspace.create().root == Path.cwd() / "my-track"


def test_inside_the_clone_it_is_made_at_the_clones_top(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course / "days")
    assert workspace.create().root == course / "my-track"


def test_it_is_made_at_track_home_if_that_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACK_HOME", str(tmp_path / "deep" / "in here"))
    assert workspace.create().root == tmp_path / "deep" / "in here"
    assert workspace.find() == workspace.create()


@pytest.mark.parametrize("inside", [".", "my-track", "my-track/day02_doubling", "other/folder"])
def test_it_is_found_from_itself_from_below_and_from_beside(
    found: workspace.Workspace, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path.cwd() / inside
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    assert workspace.find() == found


def test_the_one_above_wins_over_track_home(
    found: workspace.Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / ".track").mkdir(parents=True)
    monkeypatch.setenv("TRACK_HOME", str(tmp_path / "home"))
    assert workspace.find() == found


def test_a_folder_that_was_deleted_under_ones_feet_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(NoWorkspace, match="no longer exists"):
        workspace.find()


def test_a_start_copies_lesson_and_skeleton(found: workspace.Workspace) -> None:
    assert found.kernel(day(2)).read_text() == SKELETON
    assert sorted(os.listdir(found.folder(day(2)))) == ["README.md", "kernel.py"]


def test_a_second_start_keeps_the_learners_files(found: workspace.Workspace) -> None:
    found.kernel(day(2)).write_text("mine")
    assert handout.start(found, day(2)) == {"README.md": "kept", "kernel.py": "kept"}
    assert found.kernel(day(2)).read_text() == "mine"


def test_a_lost_file_is_copied_again_and_the_other_stays(found: workspace.Workspace) -> None:
    found.kernel(day(2)).unlink()
    (found.folder(day(2)) / "README.md").write_text("my notes")
    assert handout.start(found, day(2)) == {"README.md": "kept", "kernel.py": "copied"}
    assert (found.folder(day(2)) / "README.md").read_text() == "my notes"


def test_an_upgraded_course_renews_what_is_untouched_and_nothing_else(found: workspace.Workspace) -> None:
    found.kernel(day(2)).write_text("mine")
    day(2).lesson.write_text("# Day 2 · Doubling\n\nA better lesson.\n")
    day(2).skeleton.write_text("a better skeleton")

    assert handout.start(found, day(2)) == {"README.md": "upgraded", "kernel.py": "yours"}

    assert "better" in (found.folder(day(2)) / "README.md").read_text()
    assert found.kernel(day(2)).read_text() == "mine"
    assert found.handed_out(day(2)).read_text() == SKELETON


def test_a_picture_and_helpers_are_handed_out_beside_the_skeleton(found: workspace.Workspace) -> None:
    day(2).provided.mkdir()
    (day(2).provided / "tiles.py").write_text("SIZE = 16\n")
    (day(2).folder / "picture.svg").write_text("<svg/>")
    fates = {"README.md": "kept", "picture.svg": "copied", "kernel.py": "kept", "tiles.py": "copied"}
    assert handout.start(found, day(2)) == fates
    assert (found.folder(day(2)) / "tiles.py").read_text() == "SIZE = 16\n"
    (found.folder(day(2)) / "tiles.py").write_text("mine")
    put = trash.reset(found, day(2))
    assert (put / "tiles.py").read_text() == "mine"
    assert (found.folder(day(2)) / "tiles.py").read_text() == "SIZE = 16\n"


def test_a_dangling_link_in_the_place_of_the_kernel_is_not_written_through(
    found: workspace.Workspace,
) -> None:
    found.kernel(day(2)).unlink()
    found.kernel(day(2)).symlink_to("/nowhere/kernel.py")
    with pytest.raises(workspace.CannotWrite):
        handout.start(found, day(2))
    assert found.kernel(day(2)).is_symlink()


def test_a_reset_moves_everything_to_the_trash_and_copies_a_fresh_day(found: workspace.Workspace) -> None:
    found.kernel(day(2)).write_text("mine")
    (found.folder(day(2)) / "notes").mkdir()
    (found.folder(day(2)) / "notes" / "ideas.txt").write_text("an idea")

    put = trash.reset(found, day(2))

    assert (put / "kernel.py").read_text() == "mine"
    assert (put / "notes" / "ideas.txt").read_text() == "an idea"
    assert put.is_relative_to(found.hidden / "trash")
    assert found.kernel(day(2)).read_text() == SKELETON
    assert sorted(os.listdir(found.folder(day(2)))) == ["README.md", "kernel.py"]


def test_two_resets_in_one_second_keep_both(found: workspace.Workspace) -> None:
    kept = []
    for text in ("first", "second", "third"):
        found.kernel(day(2)).write_text(text)
        kept.append(trash.reset(found, day(2)))
    assert [(put / "kernel.py").read_text() for put in kept] == ["first", "second", "third"]


def test_a_day_that_was_not_started_has_no_submission_and_nothing_to_reset(
    found: workspace.Workspace,
) -> None:
    for act in (workspace.submission, trash.reset):
        with pytest.raises(BadSubmission, match=r"Day 8 is not started\."):
            act(found, day(8))


def test_a_deleted_kernel_is_named(found: workspace.Workspace) -> None:
    found.kernel(day(2)).unlink()
    with pytest.raises(BadSubmission, match=r"There is no .*kernel\.py"):
        workspace.submission(found, day(2))


def test_the_current_day_is_the_folder_one_stands_in_before_the_last_one(
    found: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workspace.current(None, ()) is None
    handout.start(found, day(8))
    journal.append(found.journal, "started", 8)
    records = journal.read(found.journal).records
    assert workspace.current(found, records) == day(8)
    monkeypatch.chdir(found.folder(day(2)))
    assert workspace.current(found, records) == day(2)


def test_a_file_in_the_place_of_the_workspace_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("my-track").write_text("a file")
    with pytest.raises(workspace.CannotWrite) as caught:
        workspace.create()
    assert "Something else stands where" in caught.value.problem
    assert Path("my-track").read_text() == "a file"


def test_of_a_workspace_that_is_someone_elses_a_copy_is_worked_in(
    found: workspace.Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workspace.cure(found.kernel(day(2))) == f"chmod -R u+w {found.root}"
    monkeypatch.setattr(os, "getuid", lambda: found.root.stat().st_uid + 1)
    copied = f"cp -r --no-preserve=mode {found.root} . && cd my-track"
    assert workspace.cure(found.kernel(day(2))) == copied
    assert workspace.cure(tmp_path) == "Work in a folder of yours, or set TRACK_HOME to one."


def test_a_disk_that_fills_up_leaves_no_half_file(
    found: workspace.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "write_bytes", _half_then_full)
    with pytest.raises(workspace.CannotWrite, match="The disk is full"):
        handout.start(found, day(8))
    assert os.listdir(found.folder(day(8))) == []


def _half_then_full(path: Path, content: bytes) -> int:
    with path.open("wb") as file:
        file.write(content[: len(content) // 2])
    raise OSError(28, "No space left on device", str(path))

"""Hints, the solution, diff, reset and the lesson, from outside."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from tests.learner import DAY_1, REPO, SOLUTION_1, Learner, passed


def test_hints_open_one_at_a_time_and_are_remembered(started: Learner) -> None:
    titles = [started.types("hint").out.splitlines()[0] for _ in range(3)]
    assert titles == [
        f"Day 1 · hint {n} of 3: {word}" for n, word in enumerate(("Nudge", "Approach", "Code"), 1)
    ]
    assert [record["tier"] for record in started.records() if record["event"] == "hint"] == [1, 2, 3]
    assert started.types("hint").out.count("Day 1 · hint ") == 3


def test_hints_can_be_read_again_without_opening_one_more(started: Learner) -> None:
    assert started.types("hint", "--again").code == 2
    started.types("hint")
    assert [hint["tier"] for hint in started.types("hint", "--again", "--json").json["hints"]] == [1]
    assert [hint["tier"] for hint in started.types("hint", "1", "--json").json["hints"]] == [2]


def test_a_bug_hunt_is_graded_as_it_is_and_its_diagnosis_waits_for_the_hint(learner: Learner) -> None:
    assert "Next: track grade   as it is: that says what fails first" in (
        learner.types("start", "find_the_bug_softmax").out
    )
    shown = learner.types("grade", "--cpu").out
    assert "Bugs: 3 standing (own case fails) · 1 hidden behind another" in shown
    assert "What the grader makes of it: track hint find_the_bug_softmax" in shown
    diagnosis = learner.records()[-1]["untold"]
    assert diagnosis not in shown
    assert learner.types("hint").out.startswith(f"Your last grading: {diagnosis}\n")
    assert learner.types("hint", "--json").json["diagnosis"] == diagnosis


def test_the_solution_opens_after_a_pass_as_a_file_that_can_be_saved(started: Learner) -> None:
    answer = passed(started).types("solution")
    assert answer.code == 0
    assert answer.out == SOLUTION_1
    assert "Next: track diff 1 --solution" in answer.err


def test_a_day_hands_out_its_finished_pieces_and_both_solutions(learner: Learner) -> None:
    shown = learner.types("start", "35").out
    assert "tiles.py: finished pieces, which kernel.py imports." in shown
    assert (learner.home / "day35_complete_flash_attention" / "tiles.py").is_file()
    plain, fast = learner.types("solution", "35", "--yes"), learner.types("solution", "35", "--fast")
    assert plain.out == (REPO / "solutions" / "day35_complete_flash_attention.py").read_text(encoding="utf-8")
    assert "Next: track solution 35 --fast" in plain.err
    assert fast.out.startswith('"""Day 35, tuned')


def test_a_day_without_a_tuned_solution_says_so(started: Learner) -> None:
    answer = passed(started).types("solution", "--fast")
    assert answer.code == 2
    assert answer.err.splitlines()[1] == "fix: track solution 1"


def test_before_a_pass_the_solution_asks_once(started: Learner) -> None:
    answer = started.types("solution")
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.splitlines() == ["error: Day 1 has not passed yet.", "fix: track solution 1 --yes"]
    assert started.types("solution", "--yes").out == SOLUTION_1
    assert started.types("solution").out == SOLUTION_1


@pytest.mark.parametrize(("typed", "opened"), [("n", ""), ("", ""), ("y", SOLUTION_1)])
def test_on_a_terminal_the_question_can_be_answered(started: Learner, typed: str, opened: str) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, f"{typed}\n".encode())
    answer = started.starts("solution", stdin=theirs)
    os.close(ours)
    os.close(theirs)
    assert answer.code == 0
    assert answer.out == opened
    assert "Day 1 has not passed yet. Show the solution anyway? [y/N]" in answer.err
    assert ("the solution stays closed" in answer.err) is not bool(opened)


def test_diff_shows_what_the_learner_changed(started: Learner) -> None:
    assert "kernel.py is the same as skeleton." in started.types("diff").err
    with started.kernel(DAY_1).open("a") as file:
        file.write("# mine\n")
    answer = started.types("diff")
    assert answer.out.startswith("--- skeleton.py\n+++ kernel.py\n")
    assert answer.out.endswith("+# mine\n")


def test_diff_with_the_solution_needs_a_pass(started: Learner) -> None:
    assert started.types("diff", "--solution").code == 2
    assert passed(started).types("diff", "--solution").out.startswith("--- solution.py\n")


def test_reset_moves_the_work_to_the_trash_and_says_where(started: Learner) -> None:
    started.kernel(DAY_1).write_text("mine")
    document = started.types("reset", "1", "--json").json
    assert (Path(document["trash"]) / "kernel.py").read_text() == "mine"
    assert started.kernel(DAY_1).read_bytes() == (REPO / "days" / DAY_1 / "kernel.py").read_bytes()
    assert started.records()[-1]["event"] == "reset"


def test_a_lesson_needs_no_workspace_and_pipes_as_markdown(learner: Learner) -> None:
    answer = learner.types("lesson", "13")
    lesson = (REPO / "days" / "day13_fused_softmax" / "README.md").read_text(encoding="utf-8")
    assert lesson.splitlines()[0] in answer.out
    assert "picture.svg" not in answer.out, "it shows the drawing in text"
    assert answer.out.splitlines()[-1] == "Next: track start 13"


@pytest.mark.parametrize("command", ["grade", "lesson", "hint"])
def test_a_day_that_does_not_exist_keeps_the_command_that_was_typed(started: Learner, command: str) -> None:
    answer = started.types(command, "sofmax")
    assert "Did you mean fused_softmax?" in answer.err
    assert f"{command} 13" in answer.err


def test_a_lesson_ends_in_what_is_true_for_its_day(started: Learner) -> None:
    assert started.types("lesson", "1").out.splitlines()[-1].startswith("Next: track grade 1")
    assert passed(started).types("lesson", "1").out.splitlines()[-1].startswith("Next: track start 2")


def test_after_a_pass_hints_and_diffs_lead_on(started: Learner) -> None:
    passed(started)
    for words in (["hint", "1"], ["diff", "1"]):
        answer = started.types(*words)
        assert "Next: track start 2" in answer.out + answer.err


def test_a_long_lesson_goes_through_the_pager_of_a_terminal(started: Learner, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED; cat\n")
    pager.chmod(0o755)
    started.environment |= {"PAGER": str(pager), "TERM": "xterm", "LINES": "24", "COLUMNS": "80"}
    shown = started.watches("lesson", "1")
    assert "PAGED" in shown
    assert shown.index("PAGED") < shown.index("Next:")


def test_what_was_reset_comes_back_and_what_stood_there_goes_in_its_place(started: Learner) -> None:
    started.kernel(DAY_1).write_text("mine")
    (started.kernel(DAY_1).parent / "notes.md").write_text("my notes")
    assert "It comes back with track restore 1" in started.types("reset", "1").out
    # Of an untouched skeleton: that is no work to come back.
    assert "What you put away before comes back with track restore 1" in started.types("reset", "1").out
    started.kernel(DAY_1).write_text("a second try")
    document = started.types("restore", "1", "--json").json
    assert started.kernel(DAY_1).read_text() == "mine"
    assert (started.kernel(DAY_1).parent / "notes.md").read_text() == "my notes"
    assert (Path(document["trash"]) / "kernel.py").read_text() == "a second try"
    assert "They change places by track restore 1" in started.types("restore", "1").out
    assert started.kernel(DAY_1).read_text() == "a second try"


def test_what_is_back_is_not_brought_back_twice(started: Learner) -> None:
    started.kernel(DAY_1).write_text("mine")
    started.types("reset", "1")
    assert "change places" not in started.types("restore", "1").out
    assert started.types("restore", "1").err.splitlines()[1] == "fix: track grade 1"


def test_where_nothing_was_reset_nothing_is_restored(started: Learner) -> None:
    started.kernel(DAY_1).write_text("mine")
    answer = started.types("restore", "1")
    assert answer.code == 2
    assert answer.err.splitlines()[0] == "error: Day 1: the trash holds no work of yours."
    assert started.kernel(DAY_1).read_text() == "mine"


def test_the_glossary_is_read_like_a_lesson(learner: Learner) -> None:
    told = learner.types("lesson", "--words").out
    assert "**warp** (day 04)" in told
    assert told.splitlines()[-1].startswith("Next: track start 1")

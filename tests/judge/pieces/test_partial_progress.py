"""How far a file is: every piece as the solution has it, as the skeleton has it, and half done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.challenge import Piece
from grader.challenge.loading import load_challenges
from grader.cli.screens.result_footer import spoken
from grader.course import catalog
from grader.course.catalog import Day
from grader.verdict import Verdict
from tests.conftest import Grade
from tools import planted
from tools.planted import Mistake


def pieces(day: Day) -> list[Piece]:
    return [piece for challenge in load_challenges(day.hidden_tests) for piece in challenge.pieces]


DAYS = [day for day in catalog.course() if pieces(day)]
# Of one day in two every other function is undone, or its only one; of the others one that is planted half
# done. `track dev proof` grades all of these.
HALVES = [(day, day.anchor % min(2, len({piece.of for piece in pieces(day)}))) for day in DAYS[::2]]
HALF_DONE = [(day, [m for m in planted.mistakes(day) if m.so_far][day.anchor % 2]) for day in DAYS[1::2]]


def graded_on_one_case(graded: Grade, day: Day, source: str) -> Verdict:
    """A tenth of a grading: the pieces have cases of their own."""
    part = [challenge for challenge in load_challenges(day.hidden_tests) if challenge.pieces][-1]
    return graded(day.key, source, only=part.cases[0].id, speed=False)


@pytest.mark.parametrize(("day", "half"), HALVES, ids=lambda value: getattr(value, "place", str(value)))
def test_what_is_ours_is_right_and_what_is_the_skeletons_is_not_started(
    day: Day, half: int, graded: Grade
) -> None:
    functions = list(dict.fromkeys(piece.of for piece in pieces(day)))
    undone = functions[half::2]
    source = planted.undone(day, day.solution.read_text(encoding="utf-8"), undone)
    verdict = graded_on_one_case(graded, day, source)
    told = {part.name: part.state for part in verdict.pieces}
    assert told == {piece.name: "not started" if piece.of in undone else "right" for piece in pieces(day)}


def test_two_files_of_every_such_day_are_planted_half_done() -> None:
    assert not [day.place for day in DAYS if sum(bool(one.so_far) for one in planted.mistakes(day)) < 2]


@pytest.mark.parametrize(
    ("day", "mistake"), HALF_DONE, ids=lambda value: getattr(value, "place", getattr(value, "name", ""))
)
def test_a_file_that_is_half_done_is_told_how_far_it_is(day: Day, mistake: Mistake, graded: Grade) -> None:
    verdict = graded_on_one_case(graded, day, mistake.source(day))
    assert spoken(verdict.pieces) == mistake.so_far


@pytest.mark.parametrize(
    ("key", "name", "told"),
    [
        (
            5,
            "x is read without a mask",
            "reads of x and y ✓ · stores of out ✓ · bounds ✗ · sums ✓ · launcher ✓",
        ),
        (10, "an atomic adds to memory that holds anything", ""),  # another plan than ours
    ],
)
def test_a_whole_file_is_told_which_part_is_wrong(key: int, name: str, told: str, graded: Grade) -> None:
    day = catalog.find(str(key))
    mistake = next(mistake for mistake in planted.mistakes(day) if mistake.name == name)
    verdict = graded_on_one_case(graded, day, mistake.source(day))
    assert spoken(verdict.pieces) == told
    assert Verdict.from_json(verdict.to_json()).pieces == verdict.pieces


def test_an_exception_is_told_with_the_learners_line(graded: Grade) -> None:
    day = catalog.find("10")
    swap = {"block_sum = tl.sum(": "block_sum = tl.summe("}
    source = replace(planted.mistakes(day)[0], swap=swap, undone=("total",)).source(day)
    line = source[: source.index("tl.summe")].count("\n") + 1
    told = graded_on_one_case(graded, day, source).pieces
    assert f"sums of blocks ✗ (line {line} raises)" in spoken(told)

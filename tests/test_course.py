"""The course proves itself: days are whole, solutions pass, and what is wrong fails for the right reason."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest
import torch

from grader import catalog
from grader.catalog import DAYS, Day
from grader.challenge import Case, Challenge
from grader.dev import planted
from grader.judge.case.compare import Expected, compare, errors
from grader.judge.case.oracle import expect
from grader.judge.case.trial import draw
from grader.judge.session import load_challenges
from tests.conftest import Grade

Planted = TypeVar("Planted")

ALL = catalog.days()
FAST = sorted((catalog.ROOT / "solutions" / "fast").glob("*.py"))
each_day = pytest.mark.parametrize("day", ALL, ids=lambda day: day.stem)


def some(day: Day, planted: Iterable[Planted], one_in: int) -> list[Planted]:
    """All that is planted in weeks 1 and 2, and one in so many of the later weeks, where each takes seconds.

    `track dev proof` grades everything.
    """
    return list(planted) if day.number <= 14 else list(planted)[day.number % one_in :: one_in]


def test_no_day_is_missing() -> None:
    assert [day.number for day in ALL] == list(range(1, DAYS + 1))


@each_day
def test_a_day_is_whole_in_all_trees(day: Day) -> None:
    tests = planted.TESTS
    trees = [tests / tree / f"{day.stem}.py" for tree in ("mistakes", "laggards")]
    for path in (day.lesson, day.skeleton, day.hidden_tests, day.solution, day.hints, *trees):
        assert path.is_file(), path
    assert len(list(planted.honest(day))) >= 2
    assert len(planted.mistakes(day)) >= 6
    may = {"__pycache__", "suspects.py", "provided"}
    assert {path.name for path in day.folder.iterdir()} - may == {"README.md", "kernel.py", "hidden_tests.py"}


def test_no_tree_holds_a_stem_that_is_no_day() -> None:
    stems = {day.stem for day in catalog.days()}
    tests = planted.TESTS
    for tree in (
        catalog.ROOT / "solutions",
        catalog.ROOT / "hints",
        *(tests / t for t in ("mistakes", "laggards")),
    ):
        found = {path.stem for path in tree.iterdir() if path.name.startswith("day")}
        assert found <= stems, tree


@each_day
def test_the_skeleton_is_the_solution_less_lines(day: Day) -> None:
    solution = iter(day.solution.read_text(encoding="utf-8").splitlines())
    for line in day.skeleton.read_text(encoding="utf-8").splitlines():
        if "TODO" in line:
            continue
        assert line in solution, f"not in the solution, or not in this order: {line!r}"


@each_day
def test_the_lesson_is_an_hour_not_a_book(day: Day) -> None:
    lesson = day.lesson.read_text(encoding="utf-8")
    assert lesson.startswith(f"# Day {day.number:02d} · ")
    prose = "".join(part for index, part in enumerate(lesson.split("```")) if index % 2 == 0)
    assert 400 <= len(prose.split()) <= 900
    assert "```" in lesson
    for heading in (
        "## The idea",
        "## A worked example",
        "## Your task",
        "## How it is graded",
        "## Where it is from",
    ):
        assert heading in lesson, heading


@each_day
def test_there_are_three_hints(day: Day) -> None:
    headings = [line for line in day.hints.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert headings == ["## Nudge", "## Approach", "## Code"]


@each_day
def test_a_challenge_reads_on_one_screen(day: Day) -> None:
    source = day.hidden_tests.read_text(encoding="utf-8")
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    challenges = [call for call in calls if ast.unparse(call.func) == "Challenge"]
    assert challenges
    assert max((call.end_lineno or 0) - call.lineno + 1 for call in challenges) <= 60
    assert source.count("\n") <= 150


def unread(hidden_tests: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Sizes of cases that nothing of their challenge ever looked at."""
    looked, get = set(), Case.get

    def noted(case: Case, name: str, default: object = None) -> object:
        looked.add(name)
        return get(case, name, default)

    monkeypatch.setattr(Case, "get", noted)
    found: set[str] = set()
    for challenge in load_challenges(hidden_tests):
        bars = [*challenge.speeds, *challenge.relations, *([challenge.memory] if challenge.memory else [])]
        named = {name for case in (*challenge.cases, *(bar.case for bar in bars)) for name in case.sizes}
        for case in challenge.cases:
            if named <= looked:
                break
            if not case.gpu:
                draw(challenge, case, 1, "cpu")
                _ = challenge.chance and challenge.chance.rate(case)
        found |= named - looked
    return found


@each_day
def test_every_size_of_a_case_is_looked_at(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    # A size is a free keyword: this is what tells `scale=` from `sclae=`, and from one that means nothing.
    assert not unread(day.hidden_tests, monkeypatch)


def test_a_size_that_nothing_looks_at_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hidden_tests.py"
    source = (
        "from grader.challenge import Case, Challenge, Memory\n"
        "challenge = Challenge('f', lambda case, draw: (draw(case.n), case.get('scale', 1.0)), None, "
        "[Case(n=3), Case(n=4, scale=2.0), Case(n=1, gpu=True, sclae=2.0)], memory=Memory(Case(n=4, scal=1)))"
    )
    path.write_text(source, encoding="utf-8")
    assert unread(path, monkeypatch) == {"sclae", "scal"}


@each_day
def test_the_skeleton_grades_unstarted(day: Day, graded: Grade) -> None:
    assert graded(day.number, day.skeleton).status == "unstarted"


@each_day
def test_the_solution_passes(day: Day, graded: Grade) -> None:
    verdict = graded(day.number, day.solution)
    assert verdict.status == "passed", verdict.diagnosis
    assert {check.outcome for check in verdict.checks} <= {"passed", "not measured"}


@pytest.mark.parametrize("path", FAST, ids=lambda path: path.stem)
def test_a_fast_solution_belongs_to_a_day_and_passes_too(path: Path, graded: Grade) -> None:
    day = {day.stem: day for day in ALL}[path.stem]
    verdict = graded(day.number, path, speed=False)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("day", "path"),
    [(day, path) for day in ALL for path in some(day, planted.honest(day), 3)],
    ids=lambda value: value.stem,
)
def test_an_honest_alternative_passes(day: Day, path: Path, graded: Grade) -> None:
    verdict = graded(day.number, path, speed=False)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("day", "mistake"),
    [(day, mistake) for day in ALL for mistake in some(day, planted.mistakes(day), 10) if not mistake.gpu],
    ids=lambda value: getattr(value, "stem", None) or value.name.replace(" ", "_"),
)
def test_a_mistake_fails_and_is_told_why(day: Day, mistake: planted.Mistake, graded: Grade) -> None:
    verdict = graded(day.number, mistake.source(day))
    failed = next(
        (check for check in verdict.checks if check.outcome not in ("passed", "not measured")), None
    )
    assert failed is not None, "it passed"
    assert failed.group == mistake.fails, verdict.diagnosis
    assert (mistake.says in verdict.diagnosis) != mistake.wish, verdict.diagnosis


@pytest.mark.parametrize(
    ("day", "laggard"),
    [(day, laggard) for day in ALL for laggard in some(day, planted.laggards(day), 3)],
    ids=lambda value: getattr(value, "stem", None) or value.name.replace(" ", "_"),
)
def test_a_laggard_is_predicted_to_be_slow(day: Day, laggard: planted.Laggard, graded: Grade) -> None:
    # Its cases are slow here, too: `track dev proof` grades them.
    verdict = graded(day.number, laggard.source(day), cases=False)
    assert verdict.status == ("passed" if laggard.unseen else "slow"), verdict.diagnosis


CASES = [
    (day, challenge, case)
    for day in ALL
    for challenge in load_challenges(day.hidden_tests)
    for case in challenge.cases
    if not case.gpu
]
TRIVIAL: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": torch.zeros_like,
    "the mean": lambda exact: exact.mean().expand_as(exact) if exact.is_floating_point() else exact * 0,
    "one row repeated": lambda exact: exact[:1].expand_as(exact) if exact.dim() else exact,
    "a lower precision": lambda exact: (
        exact.bfloat16().to(exact.dtype) if exact.is_floating_point() else exact
    ),
}


@pytest.mark.parametrize(
    ("day", "challenge", "case"),
    CASES,
    ids=lambda value: getattr(value, "stem", getattr(value, "id", "")) or "",
)
def test_no_trivial_answer_passes_a_case(day: Day, challenge: Challenge, case: Case) -> None:
    arguments = draw(challenge, case, 1, "cpu")
    given = (torch.rand(arguments[0].shape) < challenge.chance.rate(case),) if challenge.chance else ()
    for want in expect(challenge, arguments, given):
        if not isinstance(want, Expected) or not bool(want.exact.double().isfinite().all()):
            continue
        for name, answer in TRIVIAL.items():
            trivial = answer(want.exact).to(want.dtype)
            rounded = want.exact.to(want.dtype).double()
            if errors(trivial, rounded)[0] < 1e-6:
                continue  # this once it is the right answer: one row, constant values, …
            assert compare(trivial, want, case) is not None, f"{name} passes {case.id}"

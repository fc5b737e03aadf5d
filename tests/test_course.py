"""The course proves itself: days are whole, solutions pass, and what is wrong fails for the right reason."""

from __future__ import annotations

import ast
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch

from grader import kernel
from grader.challenge import Bug, Case, Challenge
from grader.challenge.case import readable
from grader.challenge.harness.compare import Expected, compare, errors
from grader.challenge.harness.oracle import expect
from grader.challenge.harness.trial import draw
from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError
from grader.judge.bug_hunt_progress import states
from grader.performance.predict import reference_predictions
from grader.verdict import Check, Verdict
from tests import environments
from tests.conftest import Grade
from tests.rounding import asked_once
from tests.styles import fewest, used
from tools import planted
from tools.check_planted import CHECKS, Planted, passed

Item = TypeVar("Item")

ALL = catalog.course()
FAST = sorted((catalog.ROOT / "solutions" / "fast").rglob("*.py"))


def called(value: Any) -> str:
    """`day13_fused_softmax` or `extras/rope`, as `track dev test -k` takes it; a planted file's name."""
    if isinstance(value, Day):
        return value.place
    return value.stem if isinstance(value, Path) else value.name.replace(" ", "_")


each_day = pytest.mark.parametrize("day", ALL, ids=called)

# What is graded of the extras, in turn: one of these of each. `track dev proof` grades everything.
TURNS = ("solution", "mistake", "laggard")


def graded_of(kind: str) -> list[Day]:
    """All days, and the extras whose turn it is to have this graded: each takes seconds."""
    shelf = catalog.extras()
    return [day for day in ALL if day.number or TURNS[shelf.index(day) % len(TURNS)] == kind]


def some(day: Day, planted: Iterable[Item], early: int, later: int) -> list[Item]:
    """One in so many of what is planted, of weeks 1 and 2 and of all others."""
    first_weeks = day.number is not None and day.number <= 14
    found, one_in = list(planted), early if first_weeks else later
    return found[day.anchor % min(one_in, len(found) or 1) :: one_in]


def test_no_day_is_missing() -> None:
    numbers = [day.number for day in catalog.days()]
    assert numbers == list(range(1, len(numbers) + 1)), "days are numbered from 1, without a gap or a double"


@each_day
def test_a_day_is_whole_in_all_trees(day: Day) -> None:
    trees = [planted.TESTS / tree / f"{day.place}.py" for tree in ("mistakes", "laggards")]
    needed = (day.lesson, day.skeleton, day.hidden_tests, day.solution, day.hints, *trees)
    missing = [str(path.relative_to(catalog.ROOT)) for path in needed if not path.is_file()]
    assert not missing, f"missing: {', '.join(missing)}"
    names = {path.name for path in day.folder.iterdir()} - {"__pycache__"}
    parts = {"README.md", "picture.svg", "kernel.py", "hidden_tests.py", "suspects.py", "provided"}
    more = sorted(names - parts)
    assert not more, f"no part of a {day.kind}, in days/{day.place}/: {', '.join(more)}"


@each_day
def test_enough_is_planted(day: Day) -> None:
    bars = sum(len(challenge.speeds) for challenge in load_challenges(day.hidden_tests))
    few = 2 if day.number else 1
    wanted = (
        ("mistakes", len(planted.mistakes(day)), 6, f"tests/mistakes/{day.place}.py"),
        ("right alternatives", len(list(planted.right(day))), few, f"tests/right/{day.place}/"),
        ("laggards", len(planted.laggards(day)), few if bars else 0, f"tests/laggards/{day.place}.py"),
    )
    missing = [
        f"{least} {what} are wanted in {where}, there are {found}"
        for what, found, least, where in wanted
        if found < least
    ]
    assert not missing, "; ".join(missing)


@each_day
def test_nothing_is_left_to_do_but_in_the_skeleton(day: Day) -> None:
    trees = [planted.TESTS / tree / f"{day.place}.py" for tree in ("mistakes", "laggards")]
    files = (day.lesson, day.hidden_tests, day.solution, day.hints, *trees, *planted.right(day))
    left = [
        f"{path.relative_to(catalog.ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(r'[^"“]*TODO', line)  # in quotes it is one that a mistake leaves
    ]
    assert not left, "\n".join([f"{len(left)} lines are still to be written:", *left])


@each_day
def test_a_speed_bar_is_predicted_with_our_own_time(day: Day) -> None:
    missing = [
        name
        for challenge in load_challenges(day.hidden_tests)
        for speed in challenge.speeds
        if not challenge.on_gpu_alone
        for name in [reference_predictions.bar_name(day.stem, challenge.entry, speed.case.id, speed.part)]
        if reference_predictions.ours(name) is None
    ]
    assert not missing, f"`./track dev predicted --write {day.key}` keeps our time on {', '.join(missing)}"


@each_day
def test_what_is_shown_is_one_of_the_plain_cases(day: Day) -> None:
    for challenge in load_challenges(day.hidden_tests):
        plain = [case.id for case in challenge.cases if case.group == "correct" and not case.gpu]
        assert challenge.shown is None or challenge.shown.id in plain


def test_no_tree_holds_a_stem_that_is_no_day() -> None:
    places = {day.place for day in (*ALL, catalog.WARM_UP)}
    trees = [catalog.ROOT / tree for tree in ("days", "solutions", "solutions/fast", "hints")]
    trees += [planted.TESTS / tree for tree in ("mistakes", "laggards", "right")]
    strays = [
        str(path.relative_to(catalog.ROOT))
        for tree in trees
        for path in (*tree.glob("day*"), *tree.glob("extras/*"))
        if path.name not in ("__pycache__", "README.md")
        and str(path.relative_to(tree).with_suffix("")) not in places
    ]
    assert not strays, f"of no day or extra that has a lesson: {', '.join(strays)}"


def test_an_edit_may_leave_out_the_lines_between_two() -> None:
    day = catalog.find("1")
    made = planted.swapped(day, {"    offs = tl.arange(0, BLOCK)\n…\ndef scale_and_shift(": "def other("})
    head, _, rest = day.solution.read_text(encoding="utf-8").partition("    offs =")
    assert made == f"{head}def other({rest.partition('def scale_and_shift(')[2]}"
    for key in (
        "    offs = tl\n…\ndef nothing(",
        "def nothing(\n…\n    return y\n",
        "import triton…\n    return y\n",
    ):
        with pytest.raises(TrackError, match="once is wanted"):
            planted.swapped(day, {key: ""})


HUNTS = [day for day in ALL if not day.to_fill_in]


@pytest.mark.parametrize("day", HUNTS, ids=called)
def test_what_a_bug_hunt_hands_out_is_the_solution_with_all_of_its_bugs(day: Day) -> None:
    bugs = hunted(day)
    assert list(planted.bugs(day)) == [bug.name for bug in bugs]
    assert planted.with_bugs(day, planted.bugs(day)) == day.skeleton.read_text(encoding="utf-8")
    cases = {case.id for challenge in load_challenges(day.hidden_tests) for case in challenge.cases}
    assert {bug.witness.id for bug in bugs} <= cases, "a witness is one of the cases"
    assert {name for bug in bugs for name in bug.hides} <= {bug.name for bug in bugs}


def hunted(day: Day) -> list[Bug]:
    return [bug for challenge in load_challenges(day.hidden_tests) for bug in challenge.bugs]


# As `track python --cpu` runs them, each in a fork of one process: to import torch takes longer than they do.
DEMONSTRATIONS = """
import os, sys, torch, triton
from grader.cli import run_file
from grader.grading import preloaded_modules
preloaded_modules.for_runners()
paths = sys.argv[1:]
for path in paths:
    if not os.fork():
        sys.argv = ["", path]
        run_file.main()
        sys.exit()
sys.exit(any(os.wait()[1] for path in paths))
"""


def test_the_demonstrations_of_bug_hunts_pass() -> None:
    around = environments.plain(**kernel.ENVIRONMENT)
    command = [sys.executable, "-c", DEMONSTRATIONS, *(str(day.skeleton) for day in HUNTS)]
    shown = subprocess.run(command, cwd=catalog.ROOT, env=around, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize("day", HUNTS, ids=called)
def test_a_bug_hunt_begins_with_all_bugs(day: Day, graded: Grade) -> None:
    verdict = graded(day.key, day.skeleton)
    assert verdict.status == "failed"
    assert verdict.hunt
    assert {bug.state for bug in verdict.hunt.bugs} <= {"standing", "hidden"}


@pytest.mark.parametrize("day", HUNTS, ids=called)
def test_a_bug_that_is_left_stands_and_the_others_are_gone(day: Day, graded: Grade) -> None:
    # One of them; `track dev proof` tries every set.
    names = list(planted.bugs(day))
    left = day.anchor % len(names)
    verdict = graded(day.key, planted.with_bugs(day, names[left : left + 1]), speed=False)
    assert verdict.hunt
    wanted = states(hunted(day), {name: name != names[left] for name in names})
    assert [bug.state for bug in verdict.hunt.bugs] == wanted


@pytest.mark.parametrize("day", [day for day in ALL if day.to_fill_in], ids=called)
def test_the_skeleton_is_the_solution_less_lines(day: Day) -> None:
    solution = iter(day.solution.read_text(encoding="utf-8").splitlines())
    for line in day.skeleton.read_text(encoding="utf-8").splitlines():
        if "TODO" in line:
            continue
        assert line in solution, (
            f"this line of the skeleton is not in the solution, or above others: {line!r}"
        )


HEADINGS = ("The idea", "A worked example", "Your task", "How it is graded", "Where it is from")


@each_day
def test_the_lesson_is_an_hour_not_a_book(day: Day) -> None:
    lesson = day.lesson.read_text(encoding="utf-8")
    begins = f"# {'Extra' if day.number is None else f'Day {day.label}'} · "
    assert lesson.startswith(begins), f"the lesson begins with {begins!r} and its title"
    missing = [heading for heading in HEADINGS if f"\n## {heading}\n" not in lesson]
    assert not missing, f"the lesson lacks a heading: {', '.join(missing)}"
    parts = re.sub(r"^!\[.*\n", "", lesson, flags=re.MULTILINE).split("```")
    words = sum(len(part.split()) for part in parts[::2])
    assert 400 <= words <= 900, f"the lesson has {words} words beside its code; 400 to 900 are wanted"
    assert any(re.sub(r"^\w*", "", part).strip() for part in parts[1::2]), "the lesson shows no code"


@each_day
def test_the_task_names_what_is_graded_and_shows_code_that_parses(day: Day) -> None:
    lesson = day.lesson.read_text(encoding="utf-8")
    for code in re.findall(r"^```python\n(.*?)^```", lesson, re.DOTALL | re.MULTILINE):
        ast.parse(code)
    task = re.search(r"^## Your task\n\n```python\n(.*?)^```", lesson, re.DOTALL | re.MULTILINE)
    assert task, "the task begins with its signature, as ```python"
    told = set(re.findall(r"^(\w+)\(", task[1], re.MULTILINE))
    graded = {challenge.entry for challenge in load_challenges(day.hidden_tests)}
    assert told == graded, f"the task names {sorted(told)}, graded is {sorted(graded)}"


@each_day
def test_an_extra_hangs_on_a_day(day: Day) -> None:
    numbers = [one.anchor for one in catalog.days()]
    assert day.anchor in numbers, (
        f"below the lesson's title stands *After day N.*, with N up to {max(numbers)}"
    )


@each_day
def test_there_are_three_hints(day: Day) -> None:
    headings = [line for line in day.hints.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert headings == ["## Nudge", "## Approach", "## Code"], "three hints are wanted, with these headings"


@each_day
def test_a_challenge_reads_on_one_screen(day: Day) -> None:
    source = day.hidden_tests.read_text(encoding="utf-8")
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    challenges = [call for call in calls if ast.unparse(call.func) == "Challenge"]
    assert challenges, "hidden_tests.py calls no Challenge(…)"
    lines = max((call.end_lineno or 0) - call.lineno + 1 for call in challenges)
    assert lines <= 60, f"Challenge(…) has {lines} lines; 60 are read at a glance"
    assert source.count("\n") <= 150, "hidden_tests.py has over 150 lines: its suspects may have a file"


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
            if not case.gpu or challenge.on_gpu_alone:
                draw(challenge, case, 1, "cpu")
                _ = challenge.chance and challenge.chance.rate(case)
        found |= named - looked
    return found


@each_day
def test_every_size_of_a_case_is_looked_at(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    # A size is a free keyword: this is what tells `scale=` from `sclae=`, and from one that means nothing.
    unknown = unread(day.hidden_tests, monkeypatch)
    assert not unknown, f"sizes of cases that nothing looks at: {', '.join(sorted(unknown))}"


@each_day
def test_no_case_stands_twice(day: Day) -> None:
    for challenge in load_challenges(day.hidden_tests):
        for seed in range(20):
            names = Counter(case.id for case in challenge.drawn(seed).cases)
            assert max(names.values(), default=1) == 1, names.most_common(3)


@each_day
def test_no_list_of_sizes_holds_those_of_every_grading(day: Day) -> None:
    # Day 1 takes powers of 2 up to 4096; of a test the learner chooses the sizes.
    if day.stem in ("day01_hello_triton", "write_the_test"):
        return
    challenges = load_challenges(day.hidden_tests)
    once, again = ([one.id for each in challenges for one in each.drawn(seed).cases] for seed in (1, 2))
    assert once != again, "no size of a case is drawn: Case(n=between(4000, 5000))"


def test_a_size_that_nothing_looks_at_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hidden_tests.py"
    source = (
        "from grader.challenge import Case, Challenge, Memory\n"
        "challenge = Challenge('f', lambda case, draw: (draw(case.n), case.get('scale', 1.0)), None, "
        "[Case(n=3), Case(n=4, scale=2.0), Case(n=1, gpu=True, sclae=2.0)], memory=Memory(Case(n=4, scal=1)))"
    )
    path.write_text(source, encoding="utf-8")
    assert unread(path, monkeypatch) == {"sclae", "scal"}


@pytest.mark.parametrize("day", [day for day in ALL if day.to_fill_in], ids=called)
def test_the_skeleton_grades_unstarted(day: Day, graded: Grade) -> None:
    verdict = graded(day.key, day.skeleton)
    assert verdict.status == "unstarted", "the skeleton is known to be one by its code, without comments"


@pytest.mark.parametrize("day", graded_of("solution"), ids=called)
def test_the_solution_passes(day: Day, graded: Grade) -> None:
    verdict = graded(day.key, day.solution, limits=True)
    assert passed(verdict), told(verdict)
    seen = any(not laggard.unseen for laggard in planted.laggards(day))  # without a GPU, by a prediction
    assert verdict.beside or not seen, "after a pass it is told how ours differs"
    assert {check.outcome for check in verdict.checks} <= {"passed", "not measured"}, told(verdict)


def told(verdict: Verdict) -> str:
    """What became of it, for whoever wrote the day."""
    failed = first_failed(verdict)
    if failed is None:
        return verdict.status
    return f"{verdict.status} in {failed.name}: {verdict.diagnosis or failed.cause.get('reason', '')}"


def first_failed(verdict: Verdict) -> Check | None:
    return next((check for check in verdict.checks if check.outcome not in ("passed", "not measured")), None)


def test_every_fast_solution_belongs_to_a_day() -> None:
    assert set(FAST) <= {day.fast_solution for day in ALL}


def others(day: Day) -> list[Path]:
    """Right files beside the solution: ours for a GPU alone, other styles."""
    tuned = [day.fast_solution] if day.fast_solution.is_file() else []
    return [*tuned, *planted.right(day)]


@cache
def styles() -> list[tuple[Day, Path]]:
    """So few that all which any of them uses of Triton stands in them or in a solution that is graded."""
    of = {path: day for day in ALL for path in others(day)}
    return [(of[path], path) for path in fewest(of, [day.solution for day in graded_of("solution")])]


def test_what_right_files_use_of_triton_is_graded() -> None:
    solutions = [day.solution for day in graded_of("solution")]
    seen = frozenset[str]().union(*map(used, [*solutions, *(path for _, path in styles())]))
    some = "tl.dot(acc) tl.atomic_min tl.make_block_ptr libdevice.erfc triton.autotune(restore_value) gl.full"
    assert set(some.split()) <= seen
    assert {"AsyncWith", "tl.no_such_function"}.isdisjoint(seen)


@pytest.mark.parametrize(("day", "path"), styles(), ids=called)
def test_another_right_file_passes(day: Day, path: Path, graded: Grade) -> None:
    strict = Planted(day, "right", path).strictly_right
    verdict = graded(day.key, path, speed=not strict, limits=strict)  # a prediction takes as long again
    assert passed(verdict), told(verdict)


@pytest.mark.parametrize(
    ("day", "mistake"),
    [
        (day, mistake)
        for day in graded_of("mistake")
        for mistake in some(day, planted.mistakes(day), 12, 40)
        if not mistake.gpu and not mistake.so_far  # what is half done tests/judge/pieces/ grades, on one case
    ],
    ids=called,
)
def test_a_mistake_fails_and_is_told_why(day: Day, mistake: planted.Mistake, graded: Grade) -> None:
    verdict = graded(day.key, mistake.source(day))
    wrong = list(CHECKS["mistake"](Planted(day, "mistake", mistake), verdict, verdict))
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize(
    ("day", "laggard"),
    [(day, laggard) for day in graded_of("laggard") for laggard in some(day, planted.laggards(day), 3, 5)],
    ids=called,
)
def test_a_laggard_is_predicted_to_be_slow(day: Day, laggard: planted.Laggard, graded: Grade) -> None:
    # Its cases are slow here, too: `track dev proof` grades them.
    verdict = graded(day.key, laggard.source(day), cases=False)
    wanted = "passed" if laggard.unseen else "slow"
    failed = first_failed(verdict)
    stored = laggard.stores and failed is not None and failed.group == "memory"
    got = "passed" if passed(verdict) else verdict.status
    assert stored or got == wanted, f"it is to be {wanted}, and is {told(verdict)}"
    assert verdict.status == "passed" or not verdict.beside, "before a pass nothing is told of ours"


TRIVIAL: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": torch.zeros_like,
    "the mean": lambda exact: exact.mean().expand_as(exact) if exact.is_floating_point() else exact * 0,
    "one row repeated": lambda exact: exact[:1].expand_as(exact) if exact.dim() else exact,
    "a lower precision": lambda exact: (
        exact.bfloat16().to(exact.dtype) if exact.is_floating_point() else exact
    ),
}


def everything() -> list[tuple[float, torch.Tensor]]:
    """Of the errors of a result, whole and per row, what roundings explain at the very most."""
    return [(math.inf, torch.full((1,), math.inf))]


@each_day
def test_no_trivial_answer_passes_a_case(day: Day) -> None:
    for challenge in load_challenges(day.hidden_tests):
        for case in challenge.cases:
            if not case.gpu and case.demand == "values":
                no_trivial_answer_passes(challenge, case)


def no_trivial_answer_passes(challenge: Challenge, case: Case) -> None:
    arguments = draw(challenge, case, 1, "cpu")
    seeded = torch.Generator().manual_seed(1)
    given = ()
    if challenge.chance:
        given = (torch.rand(arguments[0].shape, generator=seeded) < challenge.chance.rate(case),)
    for want in expect(challenge, arguments, given):
        if not isinstance(want, Expected) or not bool(want.exact.double().isfinite().all()):
            continue
        want = asked_once(want)
        for name, answer in TRIVIAL.items():
            trivial = readable(answer(want.exact).to(want.dtype))
            if compare(trivial, replace(want, movement=everything), case) is not None:
                continue  # to ask what roundings do explain takes longer than all else here
            if errors(trivial, want.right.double())[0] < 1e-6:
                continue  # this once it is the right answer: one row, constant values, …
            assert compare(trivial, want, case) is not None, f"{name} passes {case.id}"

"""The learner's file with ours around one function, and who is on a way of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.course.catalog import Day
from grader.judge.pieces.splice_functions import Files
from tools import planted

PLANNED = [day for day in catalog.course() if any(c.pieces for c in load_challenges(day.hidden_tests))]


def files(day: Day, learner: str) -> Files:
    return Files(learner, day.skeleton.read_text("utf-8"), day.solution.read_text("utf-8"))


@pytest.mark.parametrize("day", PLANNED, ids=lambda day: day.place)
def test_solution_and_skeleton_fit_and_every_piece_is_started_in_the_one_alone(day: Day) -> None:
    named = {piece.of for challenge in load_challenges(day.hidden_tests) for piece in challenge.pieces}
    for source, started in ((day.solution, True), (day.skeleton, False)):
        found = files(day, source.read_text("utf-8"))
        assert found.fit()
        assert {found.started(name) for name in named} == {started}


@pytest.mark.parametrize(
    ("key", "swap"),
    [
        (5, {"pid = tl.program_id(0)": "pid = tl.program_id(1)"}),
        (5, {"x_ptr, y_ptr, out_ptr, m, n, BLOCK_M": "y_ptr, x_ptr, out_ptr, m, n, BLOCK_M"}),
        (5, {"def outer_add(x: torch": "def outer_sum(x: torch"}),
        (10, {"tl.store(partial_ptr + pid, block_sum)": "tl.atomic_add(partial_ptr, block_sum)"}),
        (18, {"return 128, 128, 32, 4": "return 128, 64, 32, 4"}),
        (35, {"torch.finfo(torch.float32).min)": "-1e30)"}),
    ],
    ids=[
        "another axis",
        "other parameters",
        "another name",
        "an atomic",
        "our helper's name",
        "our constant",
    ],
)
def test_a_way_of_ones_own_is_not_judged_by_ours(key: int, swap: Mapping[str, str]) -> None:
    day = catalog.find(str(key))
    assert not files(day, planted.swapped(day, swap)).fit()


def test_a_function_stays_on_its_lines_and_the_others_become_ours() -> None:
    source = "import math\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n"
    header = '"""Ours."""\nfrom __future__ import annotations\n\nK = 3\n\n\n'
    alone = Files(source, "", header + "def f():\n    return 4\n\n\ndef g():\n    return K\n")
    scope: dict[str, Any] = {}
    exec(alone.alone("f"), scope)
    assert (scope["f"](), scope["g"]()) == (1, 3)
    assert alone.alone("f").startswith(source.rstrip())


def test_a_method_meets_our_other_methods() -> None:
    theirs = "class C:\n    @staticmethod\n    def f(): return 1\n    @staticmethod\n    def g(): return 2\n"
    ours = theirs.replace("1", "3").replace("2", "4")
    scope: dict[str, Any] = {}
    exec(Files(theirs, "", ours).alone("C.f"), scope)
    assert (scope["C"].f(), scope["C"].g()) == (1, 4)


def test_a_docstring_is_no_start() -> None:
    skeleton = "def f():\n    # TODO\n    '''Returns.'''\n"
    assert not Files("def f():\n    '''Mine.'''\n    # begun?\n", skeleton, skeleton).started("f")
    assert Files("def f():\n    return 1\n", skeleton, skeleton).started("f")


@pytest.mark.parametrize("body", ["pass", "...", "return None", "raise NotImplementedError", '"""Soon."""'])
def test_a_function_that_does_nothing_is_not_started(body: str) -> None:
    ours = "def f(x):\n    return x\n"
    assert not Files(f"def f(x):\n    {body}\n", "def f(x):\n    y = x\n    return y\n", ours).started("f")

"""Which sizes and dtypes a bench measures."""

from __future__ import annotations

import pytest

from grader.challenge import Case, Challenge, Speed
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.loading import load_challenges
from grader.cli.benchmark.sweep import Wanted, points, swept
from grader.course import catalog
from grader.errors import TrackError

SPEED = Speed(Case(m=1024, k=32, n=1024, dtype=HALF, causal=True), moved=lambda *_: 0)
CASES = [Case(m=4), Case(m=4, dtype=HALF), Case(m=4, dtype=BRAIN, layout="sliced")]
ONE = Challenge("f", lambda case, draw: (), lambda: None, CASES, speed=SPEED)


def sizes(text: str = "", every: bool = False, speed: Speed = SPEED) -> list[tuple[int, int, int, str]]:
    found = [case for case, _ in points(ONE, speed, Wanted(text, every))]
    assert all(case.causal is True and case.gpu for case in found)
    return [(case.m, case.k, case.n, case.id[-4:]) for case in found]


def test_the_largest_sizes_grow_together_and_the_other_dtypes_are_tried_at_the_bar() -> None:
    grown = [(side, 32, side, "fp16") for side in (64, 128, 256, 512, 1024)]
    assert sizes() == [*grown, (1024, 32, 1024, "fp32")]
    assert len(sizes(every=True)) == 10


def test_a_bar_can_name_its_sizes() -> None:
    named = Speed(SPEED.case, moved=SPEED.moved, sweep=("k",))
    assert [k for _, k, _, _ in sizes(speed=named)] == [2, 4, 8, 16, 32, 32]


def test_of_rows_the_columns_grow() -> None:
    assert swept(Speed(Case(rows=4096, cols=16), moved=SPEED.moved)) == ("cols",)
    assert swept(Speed(Case(rows=4096, cols=16), moved=SPEED.moved, sweep=("rows",))) == ("rows",)


def test_sizes_can_be_asked_for() -> None:
    assert sizes("bar") == [(1024, 32, 1024, "fp16")]
    assert sizes("100,2000")[:2] == [(100, 32, 100, "fp16"), (2000, 32, 2000, "fp16")]
    assert sizes("k=7")[0] == (1024, 7, 1024, "fp16")
    assert sizes("cols=7") == []


@pytest.mark.parametrize("text", ["large", "m=", "8,,9", "0", "-4", "m=big", "1e3", "causal"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(TrackError, match="are no sizes"):
        Wanted(text)


def test_every_bar_has_a_sweep_whose_sizes_its_case_has() -> None:
    for challenge in (one for day in catalog.course() for one in load_challenges(day.hidden_tests)):
        for speed in challenge.speeds:
            assert set(swept(speed)) <= speed.case.sizes.keys(), challenge.entry
            found = list(points(challenge, speed, Wanted()))
            assert len({case.id for case, _ in found}) == len(found) > 4, challenge.entry
            assert speed.case.id in {case.id for case, _ in found}

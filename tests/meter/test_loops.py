"""A long loop is walked in part, and what lies between two touches within one step stays what it is."""

from __future__ import annotations

import inspect

import pytest

from grader.meter.loops import Loops


@pytest.mark.parametrize("rows", [4, 40])
def test_a_step_that_stands_for_many_makes_nothing_in_it_lie_further_apart(rows: int) -> None:
    loops = Loops()
    loops.running = True
    apart = []
    for _ in loops.shorter(rows):
        begin = loops.touched
        for _ in loops.shorter(6):
            loops.touched += 10
        apart.append(loops.touched - begin)
    assert set(apart) == {60}
    assert loops.touched == pytest.approx(60 * rows)


def test_what_a_step_of_an_inner_loop_stands_for_counts_at_its_end() -> None:
    loops = Loops()
    loops.running = True
    for _ in loops.shorter(100):
        loops.touched += 10
    assert loops.touched == pytest.approx(1000)


def test_steps_are_counted_by_the_line_of_their_for_and_several_that_become_one_once() -> None:
    loops = Loops(__file__)
    loops.running = True
    line = inspect.currentframe().f_lineno + 1
    for _ in loops.shorter(20):
        for _ in loops.language_range(0, 64, 2, loop_unroll_factor=4):
            pass
    assert loops.trips == pytest.approx({line: 20, line + 1: 20 * 32 / 4})
    loops.reset()
    assert loops.trips == {}


def test_what_the_last_steps_alone_store_may_be_stored_once_in_so_many() -> None:
    for stores, late in (({99}, True), ({24, 49, 74, 99}, True), ({*range(100)}, False), (set(), False)):
        loops = Loops()
        loops.running = True
        for step in loops.shorter(100):
            loops.stores += step in stores
        assert loops.late is late
        loops.reset()
        at = [0]

        def below(at: list[int] = at) -> bool:
            return at[0] < 100

        for _ in loops.turns(below, lambda at=at: (at[0], 100), "<"):
            loops.stores += at[0] in stores
            at[0] += loops.moved(1)
        assert loops.late is late
        assert loops.trips == pytest.approx({0: 100})

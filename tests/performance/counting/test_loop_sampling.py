"""A long loop is walked in part, and what lies between two touches within one step stays what it is."""

from __future__ import annotations

import pytest

from grader.performance.counting.loop_sampling import Loops


@pytest.mark.parametrize("rows", [4, 40])
def test_a_step_that_stands_for_many_makes_nothing_in_it_lie_further_apart(rows: int) -> None:
    loops = Loops()
    apart = []
    for _ in loops.walk(range(rows), 1, 0):
        begin = loops.touched
        for _ in loops.walk(range(6), 1, 0):
            loops.touched += 10
        apart.append(loops.touched - begin)
    assert set(apart) == {60}
    assert loops.touched == pytest.approx(60 * rows)


def test_what_a_step_of_an_inner_loop_stands_for_counts_at_its_end() -> None:
    loops = Loops()
    for _ in loops.walk(range(100), 1, 0):
        loops.touched += 10
    assert loops.touched == pytest.approx(1000)


def test_steps_are_counted_by_the_line_of_their_for_and_several_that_become_one_once() -> None:
    loops = Loops()
    for _ in loops.walk(range(20), 1, 5):
        for _ in loops.walk(range(0, 64, 2), 4, 6):
            pass
    assert loops.trips == pytest.approx({5: 20, 6: 20 * 32 / 4})
    loops.reset()
    assert loops.trips == {}


def test_what_the_last_steps_alone_store_may_be_stored_once_in_so_many() -> None:
    for stores, late in (({99}, True), ({24, 49, 74, 99}, True), ({*range(100)}, False), (set(), False)):
        loops = Loops()
        for step in loops.walk(range(100), 1, 0):
            loops.stores += step in stores
        assert loops.late is late

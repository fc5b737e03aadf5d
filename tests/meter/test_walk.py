"""Which programs of a huge launch are walked, and what their loops count in."""

from __future__ import annotations

import torch
import triton.language as tl

from grader.meter.hollow import LARGE, reserved, unfilled
from grader.meter.walk import TURN, TypedLoops, telling
from tests.interpreter.fresh import interpreted
from tests.meter.test_counts import SETUP


def test_the_ends_the_corners_and_both_sides_of_the_two_billionth_element_are_walked() -> None:
    places = telling((1000, 1, 1), {2 * TURN, 7})
    assert places[:2] == [(999, 0, 0), (0, 0, 0)]
    assert {(499, 0, 0), (500, 0, 0), (501, 0, 0)} <= set(places)
    assert {(9, 0, 0), (0, 4, 0), (0, 0, 2)} <= set(telling((10, 5, 3), {TURN}))
    assert telling((0, 1, 1), {TURN}) == []


def test_a_loop_counts_in_the_dtype_that_the_compiler_gives_it() -> None:
    loops = TypedLoops()
    assert list(loops.shorter(3)) == [0, 1, 2], "a loop of the launcher is Python's own"
    loops.running = True
    wide = [step.dtype for step in loops.shorter(0, 2**31 + 2, 2**31)]
    assert (wide, [step.dtype for step in loops.shorter(2)]) == ([tl.int64] * 2, [tl.int32] * 2)


def test_large_tensors_lie_apart_and_take_no_memory() -> None:
    like = torch.empty(2**31 + 5, dtype=torch.float16, device="meta")
    one, two = unfilled(like, 1 << 37), unfilled(like, 1 << 37)
    assert one.shape == like.shape
    assert one.untyped_storage().nbytes() == like.nbytes
    assert abs(one.data_ptr() - two.data_ptr()) >= 1 << 37
    assert reserved(0).numel() == 1


def test_what_nobody_wrote_reads_as_0_in_large_tensors_and_in_small_ones() -> None:
    for numel in (0, 7, LARGE):
        written = torch.full((numel,), -3, dtype=torch.int32)  # memory that the next one may get
        del written
        made = unfilled(torch.empty(numel, dtype=torch.int32, device="meta"))
        assert made.numel() == numel
        assert not made.any(), "an index made of it must lie within its tensor"
    rows = torch.empty_strided((5, 3), (0, 2), dtype=torch.float16)
    assert unfilled(rows).stride() == (0, 2)


def test_a_program_that_finds_nothing_to_do_is_walked_as_well() -> None:
    out = interpreted(
        SETUP
        + """
from grader.meter.walk import TypedLoops, Walk

@triton.jit
def idle(x_ptr, n):
    if tl.program_id(0) < n:
        tl.store(x_ptr, 1.0)

walk = Walk(__file__, TypedLoops(), {})
with walk.installed():
    idle[(2,)](torch.zeros(4), 0)
print(walk.launches, walk.effort)
"""
    )
    assert out == "1 2.0\n"

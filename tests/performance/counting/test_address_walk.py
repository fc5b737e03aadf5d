"""Which programs of a huge launch are walked, and what is seen of them."""

from __future__ import annotations

import torch

from grader.performance.counting.address_walk import TURN, telling
from grader.performance.counting.fake_tensors import LARGE, reserved, unfilled
from tests.kernel.fresh import printed
from tests.performance.counting.test_counts import SETUP


def test_the_ends_the_corners_and_both_sides_of_the_two_billionth_element_are_walked() -> None:
    numbers = telling((1000, 1, 1), {2 * TURN, 7})
    assert numbers[:2] == [999, 0]
    assert {499, 500, 501} <= set(numbers)
    assert {9, 4 * 10, 2 * 10 * 5} <= set(telling((10, 5, 3), {TURN}))
    assert telling((0, 1, 1), {TURN}) == []


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


KERNELS = """
from grader.performance.counting.address_walk import Walk

@triton.jit
def idle(x_ptr, n):
    if tl.program_id(0) < n:
        tl.store(x_ptr, 1.0)

@triton.jit
def rows(x_ptr, n, cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n, tl.num_programs(0)):
        at = row * cols
        tl.store(x_ptr + at + tl.arange(0, BLOCK), 1.0)

@triton.jit
def listed(list_ptr, x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = tl.load(list_ptr + offs, mask=offs < n, other=-1)
    tl.store(x_ptr + offs, 1.0, mask=there >= 0)

walk = Walk(__file__, {})
def walked(kernel, grid, *args, **options):
    with walk.installed():
        kernel[grid](*args, **options)

"""


def test_a_program_that_finds_nothing_to_do_is_walked_as_well() -> None:
    out = printed(SETUP + KERNELS + "walked(idle, (2,), torch.zeros(4), 0)\nprint(walk.bounds.report())")
    assert out == "[]\n"


def test_what_a_kernel_puts_behind_the_end_of_a_list_stays_there_though_the_list_is_not_read() -> None:
    out = printed(
        SETUP
        + KERNELS
        + """
n = 2**18 - 5
walked(listed, (256,), torch.empty(n, dtype=torch.int64), torch.empty(n), n, BLOCK=1024)
print(walk.bounds.report())
"""
    )
    assert out == "[]\n"


def test_the_line_on_which_an_int32_turns_is_told_with_the_access_that_strays() -> None:
    out = printed(
        SETUP
        + KERNELS
        + """
from grader.performance.counting.fake_tensors import unfilled
x = unfilled(torch.empty(2**31 + 2**20, dtype=torch.float16, device="meta"), 1 << 37)
try:
    walked(rows, (8,), x, 2**25 + 2**14, 64, BLOCK=64)
except OutOfBounds:
    (beside,) = walk.bounds.report()
    lines = open(__file__).read().splitlines()
    print(beside.wrapped, [lines[line - 1].strip() for line in (beside.line, *beside.turned)])
"""
    )
    assert out == "True ['tl.store(x_ptr + at + tl.arange(0, BLOCK), 1.0)', 'at = row * cols']\n"

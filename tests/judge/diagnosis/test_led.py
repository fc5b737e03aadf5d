"""Stores whose places are loaded numbers: the numbers are asked first, not the grid or the mask."""

from __future__ import annotations

import ast

from grader.judge.diagnosis.led import led
from tests.judge.conftest import Judged

HIDDEN = """
challenge = Challenge(
    entry="scattered",
    inputs=lambda case, draw: (draw(case.n), draw.permutation(case.n, dtype=torch.int32)),
    reference=lambda x, place: torch.empty_like(x).index_copy_(0, place.long(), x),
    cases=[Case(n=100), Case(n=0)],
)
"""
KERNEL = """
@triton.jit
def place_kernel(place_ptr, to_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(place_ptr + offs, mask=offs < n, other=0)
    tl.store(to_ptr + offs, {to}, mask=offs < n)


@triton.jit
def scatter_kernel(x_ptr, place_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(place_ptr + offs, mask=offs < n, other=0)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + place, x, mask=offs < n)


def scattered(x, place):
    out, to = torch.empty_like(x), torch.empty_like(place)
    {first}
    place_kernel[(triton.cdiv(len(x), 32),)](place, to, len(x), BLOCK=32)
    scatter_kernel[(triton.cdiv(len(x), 32),)](x, to, out, len(x), BLOCK=32)
    return out
"""


def test_elements_that_no_number_names_are_laid_to_the_numbers(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(to="place // 2 * 2", first=""))
    assert "50 of 100 elements were never written" in verdict.diagnosis
    assert "where loaded numbers say, and none says there" in verdict.diagnosis
    assert "grid" not in verdict.diagnosis


def test_a_race_in_a_place_that_two_numbers_say_is_laid_to_the_numbers(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(to="place // 2 * 2", first="out.zero_()"))
    assert "those of two programs say the same place" in verdict.diagnosis
    assert verdict.look_at.startswith("what the place on line ")


def test_a_number_that_is_too_large_is_not_the_limit_of_the_mask(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(to="place + 1", first=""))
    assert "1 element past the end" in verdict.diagnosis
    assert "it stores where loaded numbers say" in verdict.diagnosis
    assert "limits are wrong" not in verdict.diagnosis


def test_a_base_that_is_loaded_is_a_number_of_the_program_and_no_place_of_a_lane() -> None:
    base = "y_ptr + tl.load(base_ptr + tl.program_id(0)) + tl.arange(0, 8)"
    source = f"def kernel(y_ptr, base_ptr):\n    tl.store({base}, 1.0)\n"
    assert not led(ast.parse(source), 2)
    assert led(ast.parse(source.replace("tl.program_id(0)", "tl.arange(0, 8)")), 2)


def test_a_case_in_which_no_kernel_runs_is_told_apart_from_a_file_that_launches_none(judged: Judged) -> None:
    hidden = HIDDEN.replace("Case(n=0)", "Case(n=1)").replace(
        "torch.empty_like(x).index_copy_", "x.index_copy"
    )
    verdict = judged(hidden, KERNEL.format(to="place", first="if len(x) == 1:\n        return out"))
    assert "With n=1-fp32 no kernel runs, and the result still holds" in verdict.diagnosis


COUNTED = """
@triton.jit
def keep_kernel(x_ptr, next_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    place = tl.atomic_add(next_ptr + offs * 0, 1, mask=offs < n)
    tl.store(out_ptr + place, x{more}, mask=offs < n)


def scattered(x, place):
    out, following = torch.empty_like(x), torch.zeros(1, dtype=torch.int32, device=x.device)
    keep_kernel[(triton.cdiv(len(x), 8),)](x, following, out, len(x), BLOCK=8)
    return out
"""


def test_right_numbers_in_the_order_of_an_atomic_are_told_from_wrong_ones(judged: Judged) -> None:
    hidden = HIDDEN.replace("torch.empty_like(x).index_copy_(0, place.long(), x)", "x.clone()")
    verdict = judged(hidden, COUNTED.format(more=""))
    assert "holds the right numbers in another order: line 12 stores where tl.atomic_add" in verdict.diagnosis
    assert "another order" not in judged(hidden, COUNTED.format(more=" + 1")).diagnosis

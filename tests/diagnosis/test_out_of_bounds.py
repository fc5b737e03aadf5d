"""A load or store beside its tensor: a mask that lets every lane through is no missing one."""

from __future__ import annotations

import pytest

from grader.diagnosis.out_of_bounds import _unlimited, starts
from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: x + 1, [Case(n=60), Case(n=64)])
"""
KERNEL = """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x + 1MASK)


def f(x):
    out = torch.empty_like(x)
    kernel[(1,)](x, out, x.numel(), BLOCK=64)
    return out
"""


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        ("", "Unmasked store: line 11 stores up to 4 elements"),
        (", mask=offs < BLOCK", "Line 11 stores up to 4 elements"),
        (", offs >= 0", "here that lets every lane through"),
        (", mask=offs < n + 2", "though it has a mask: its limits are wrong, or its offsets are"),
    ],
)
def test_what_the_mask_let_through_is_told_as_that(judged: Judged, mask: str, says: str) -> None:
    sentence = judged(HIDDEN, KERNEL.replace("MASK", mask)).diagnosis
    assert says in sentence
    assert ("Unmasked" in sentence) == (not mask)


@pytest.mark.parametrize("mask", ["", ", mask=offs < n"])
def test_what_lies_outside_in_every_case_is_no_matter_of_a_mask(judged: Judged, mask: str) -> None:
    verdict = judged(HIDDEN, KERNEL.replace("MASK", mask).replace("out_ptr + offs", "out_ptr + offs + 10**6"))
    assert "and nothing of it lies inside: the block starts beyond it" in verdict.diagnosis
    assert "Unmasked" not in verdict.diagnosis
    assert "line 11" in verdict.look_at


def test_of_a_block_with_one_lane_that_lane_may_want_a_mask(judged: Judged) -> None:
    hidden = HIDDEN.replace("Case(n=60)", "Case(n=1)")
    kernel = KERNEL.replace("MASK", "").replace("BLOCK=64", "BLOCK=triton.next_power_of_2(x.numel())")
    assert judged(hidden, kernel).status == "passed"
    shifted = judged(hidden, kernel.replace("out_ptr + offs", "out_ptr + offs + 1")).diagnosis
    assert shifted.startswith("Unmasked store: line 11 stores 1 element past the end")


TILES = """
@triton.jit
def load_tile(x_ptr, start, n, BLOCK: tl.constexpr):
    offs = start + tl.arange(0, BLOCK)[:, None] * 4 + tl.arange(0, 4)[None, :]
    return tl.load(x_ptr + offs, mask=tl.arange(0, BLOCK)[:, None] < n)


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = load_tile(x_ptr, tl.program_id(0) * n * 4, n, BLOCK)
    offs = tl.arange(0, BLOCK)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out_ptr + offs, x + 1, mask=tl.arange(0, BLOCK)[:, None] < n)


def f(x):
    out = torch.empty_like(x)
    kernel[(2,)](x, out, x.shape[0], BLOCK=16)
    return out
"""


@pytest.mark.parametrize("rows", [10, 16])
def test_a_block_that_starts_beyond_its_tensor_is_not_laid_to_the_mask(judged: Judged, rows: int) -> None:
    verdict = judged(HIDDEN.replace("draw(case.n)", f"draw({rows}, 4)"), TILES)
    assert "in program (1, 0, 0), and nothing of it lies inside" in verdict.diagnosis
    assert "though it has a mask" not in verdict.diagnosis


def test_an_offset_below_0_is_told_as_that(judged: Judged) -> None:
    kernel = KERNEL.replace("out_ptr + offs", "out_ptr + offs - 1").replace("MASK", ", mask=offs < n")
    assert "though it has a mask: an offset is below 0 there" in judged(HIDDEN, kernel).diagnosis


SINGLE = """
@triton.jit
def kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid, tl.load(x_ptr + pid * 2) + 1)


def f(x):
    out = torch.empty_like(x)
    kernel[(x.numel(),)](x, out)
    return out
"""


def test_single_elements_want_no_mask(judged: Judged) -> None:
    verdict = judged(HIDDEN, SINGLE)
    assert "and nothing of it lies inside: the block starts beyond it" in verdict.diagnosis
    assert verdict.look_at == "how the start of the block is counted: line 10"


SOURCE = """@triton.jit
def kernel(a_ptr, m, k, stride_am, stride_ak, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m, mask_k = offs_m < m, offs_k < k
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    a = tl.load(a_ptrs{mask})
"""


@pytest.mark.parametrize(
    ("mask", "bare"),
    [
        ("mask_m[:, None]", "offs_k[None, :]"),
        ("(offs_k < k)[None, :]", "offs_m[:, None]"),
        ("mask_m[:, None] & mask_k[None, :]", ""),
        ("", ""),
        ("mask_m", ""),
    ],
)
def test_the_side_that_a_mask_leaves_open_is_named(mask: str, bare: str) -> None:
    assert _unlimited(SOURCE.format(mask=f", mask={mask}" if mask else ""), 7) == bare


def test_what_wraps_around_needs_no_limit() -> None:
    source = SOURCE.format(mask=", mask=(offs_k < k)[None, :]").replace("offs_m[:,", "(offs_m % m)[:,")
    assert _unlimited(source, 7) == ""


def test_the_lines_that_count_an_address_are_those_behind_it_the_nearest_first() -> None:
    source = SOURCE.format(mask="")
    assert starts(source, 7, frozenset()) == [3, 6]
    assert starts(source, 7, frozenset(), most=1) == [6]
    assert starts(source, 7, frozenset({6})) == [3]


STEPPED = """
@triton.jit
def kernel(x_ptr, out_ptr, n, stride_x, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    ptrs = x_ptr + offs
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        acc += tl.load(ptrs, mask=offs < n - start, other=0.0)
        ptrs += BLOCK * BLOCK
    tl.store(out_ptr + offs, acc)


def f(x):
    out = torch.zeros_like(x)
    kernel[(1,)](x, out, x.numel(), 1, BLOCK=16)
    return out
"""


def test_where_no_number_of_a_program_counts_the_step_of_the_loop_is_named(judged: Judged) -> None:
    verdict = judged(HIDDEN, STEPPED)
    assert verdict.look_at == "the step of the loop: line 14"

"""A load or store beside its tensor: a mask that lets every lane through is no missing one."""

from __future__ import annotations

import pytest

from tests.judge.conftest import Judged

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
        (", mask=offs < n + 2", "though it has a mask: its limits are wrong"),
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
    hidden = HIDDEN.replace("draw(case.n)", f"draw({rows}, 4)")
    sentence = judged(hidden, TILES).diagnosis
    if rows < 16:
        assert "in program (1, 0, 0), and nothing of it lies inside" in sentence
        assert "though it has a mask" not in sentence
    else:  # the mask lets everything through, and the line says that it has one
        assert "though it has a mask: here that lets every lane through" in sentence

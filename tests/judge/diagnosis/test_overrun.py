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
        ("", "Unmasked store: line 11 stores 4 elements"),
        (", mask=offs < BLOCK", "Line 11 stores 4 elements"),
        (", offs >= 0", "here that lets every lane through"),
        (", mask=offs < n + 2", "though it has a mask: its limits are wrong"),
    ],
)
def test_what_the_mask_let_through_is_told_as_that(judged: Judged, mask: str, says: str) -> None:
    sentence = judged(HIDDEN, KERNEL.replace("MASK", mask)).diagnosis
    assert says in sentence
    assert ("Unmasked" in sentence) == (not mask)

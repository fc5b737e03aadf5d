"""A load without offsets is named where it is the only one: nothing else can make all elements alike."""

from __future__ import annotations

import torch

from grader.challenge import Case
from tests.judge.tried import told, tried

KERNEL = "@triton.jit\ndef kernel(x_ptr, seed_ptr, n, BLOCK: tl.constexpr):\n    x = LOAD\n"
X = torch.arange(1.0, 9.0)


def said(load: str, given: torch.Tensor) -> str:
    return told(tried(Case(n=8), (X,), lambda x: 2 * x, lambda x: given), source=KERNEL.replace("LOAD", load))


def test_one_element_read_for_all_is_told() -> None:
    sentence = said("tl.load(x_ptr)", torch.full((8,), 2.0))
    assert sentence.startswith("All elements are 2: tl.load(x_ptr) reads one element for a whole block.")


def test_a_scalar_read_beside_a_block_is_not_blamed() -> None:
    alike = torch.full((8,), 2.0)
    assert "reads one" not in said("tl.load(x_ptr + offs) + tl.load(seed_ptr)", alike)
    assert "reads one" not in said("tl.load(x_ptr + offs)", alike)


def test_elements_that_differ_are_not_blamed_on_it() -> None:
    assert "reads one" not in said("tl.load(x_ptr)", 3 * X)

"""Heads that hold what is right for another head are told as such, and nothing else is."""

from __future__ import annotations

import torch

from grader.judge.diagnosis.slices import _index, _moved

HEADS = torch.randn(6, 5, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


def test_each_part_that_is_right_elsewhere_is_found() -> None:
    assert _moved(HEADS[[0, 3, 1, 4, 2, 5]], HEADS, torch.float32) == (1, 3)
    assert _index(3, torch.Size([2, 3])) == [1, 0]


def test_a_head_read_twice_is_not_moved_nor_is_one_of_noise() -> None:
    assert _moved(HEADS[[0, 0, 0, 4, 2, 5]], HEADS, torch.float32) is None
    noisy = HEADS[[0, 3, 1, 4, 2, 5]]
    noisy[4] += 1
    assert _moved(noisy, HEADS, torch.float32) is None
    assert _moved(HEADS, HEADS, torch.float32) is None

"""What has contents at full size, and what is only as large."""

from __future__ import annotations

import torch

from grader.challenge import Case
from grader.judge.speed.fullsize import HollowDraw
from grader.meter.hollow import LARGE, Hollow


def test_a_mask_has_contents_however_large_it_is() -> None:
    draw = HollowDraw(Case(n=2 * LARGE), 1)
    with Hollow(lambda *_: None):
        mask = draw.integers(2 * LARGE, low=0, high=2, dtype=torch.bool)
        codes = draw.integers(2 * LARGE, low=1, high=2, dtype=torch.uint8)
    assert 0.4 < mask.float().mean() < 0.6
    assert not codes.any(), "what is only computed on takes no memory"


def test_integers_that_no_machine_holds_are_not_drawn() -> None:
    draw = HollowDraw(Case(n=2**38), 1)
    with Hollow(lambda *_: None):
        assert draw.integers(2**38, low=0, high=256, dtype=torch.uint8).shape == (2**38,)

"""Other contents for the same inputs: alike at a glance, and not the same."""

from __future__ import annotations

import random

import torch

from grader.challenge import Case
from grader.challenge.harness.argument_serialization import storage_bytes
from grader.challenge.harness.draw import LAYOUTS, Draw
from grader.challenge.harness.inputs_of_repeated_calls import others


def test_sums_and_ends_stay_and_some_elements_change() -> None:
    x = torch.randn(700)
    swapped, replaced = (values[0] for values in others((x,), random.Random(1)))
    assert torch.equal(swapped.sort().values, x.sort().values)
    assert not torch.equal(replaced.sort().values, x.sort().values)
    for other in (swapped, replaced):
        assert 0 < int((other != x).sum()) < 20
        assert (other[0], other[-1]) == (x[0], x[-1])


def test_layouts_gaps_and_guard_words_stay() -> None:
    for layout in LAYOUTS:
        x = Draw(Case(m=9, layout=layout), 1)(9, 20)
        for (other,) in others((x,), random.Random(1)):
            assert (other.shape, other.stride()) == (x.shape, x.stride())
            assert other.isfinite().all()
            changed = int((storage_bytes(other) != storage_bytes(x)).sum())
            assert changed <= 24, layout
            assert bool(changed) == (layout != "scalar")


def test_counts_keep_their_sum_and_numbers_are_left_alone() -> None:
    sizes = torch.arange(12, dtype=torch.int32)
    for other, number in others((sizes, 3), random.Random(1)):
        assert number == 3
        assert int(other.sum()) == int(sizes.sum())
        assert not torch.equal(other, sizes)


def test_the_inputs_themselves_do_not_change() -> None:
    x = torch.randn(50)
    before = x.clone()
    others((x, x[:10]), random.Random(1))
    assert torch.equal(x, before)

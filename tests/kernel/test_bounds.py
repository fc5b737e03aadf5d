"""Where an access beside all tensors is said to be."""

from __future__ import annotations

import numpy as np
import pytest

from grader.kernel.access import Access
from grader.kernel.bounds import Bounds, _where
from grader.kernel.tensor_regions import Region


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (1032, "1 element past the end of y"),
        (996, "1 element before the start of y"),
        (1032 + (4 << 22), "up to 4194305 elements past the end of y, the nearest tensor"),
        (8 << 40, "where no tensor is"),
    ],
)
def test_a_place_is_told_from_the_tensor_that_is_nearest(address: int, words: str) -> None:
    assert _where(Region("y", 936, 1000, 1032, 1096), address, 4) == words


def test_views_of_one_storage_are_told_apart_by_where_they_lie() -> None:
    bounds = Bounds("kernel.py")
    bounds.launch([Region("loss", 0, 0, 64, 128), Region("lse", 0, 64, 128, 128)])
    access = Access("load", np.arange(64, 128, 4, dtype=np.uint64), np.ones(16, bool), "f32")
    home = bounds.home(access)
    assert home is not None
    assert home.name == "lse"
    assert bounds.report() == []

"""Where an access beside all tensors is said to be."""

from __future__ import annotations

import pytest

from grader.interpreter.bounds import _where
from grader.interpreter.regions import Region


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

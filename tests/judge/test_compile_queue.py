"""Of the kernels that wait for a compiler every second one is taken for its length."""

from __future__ import annotations

from typing import Any

import pytest

from grader.judge.compile_queue import Waiting, length


def recipe(size: int, dtype: str = "float16") -> dict[str, Any]:
    tensor = {"is": "tensor", "dtype": dtype, "aligned": True}
    arguments = {"x_ptr": tensor, "n": 1 << 20, "BLOCK": size, "CAUSAL": True}
    return {"kernel": "k", "arguments": arguments, "constants": ["BLOCK", "CAUSAL"]}


@pytest.mark.parametrize(("builders", "order"), [(16, [1, 9, 2, 8, 3, 5, 4]), (4, [1, 2, 3, 9, 4, 8, 5])])
def test_all_are_taken_in_their_order_and_by_many_builders_every_second_for_its_length(
    builders: int, order: list[int]
) -> None:
    waiting = Waiting(builders)
    for size in (1, 2, 3, 9, 4, 8, 5):
        waiting.add(recipe(size), lambda size=size: size)
    assert [waiting.next()() for _ in range(7)] == order


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        (recipe(64), recipe(128)),
        (recipe(64), recipe(32, "float32")),
        ({"unknown": "an argument of type object"}, recipe(1)),
        ({"kernel": "k", "arguments": {}}, recipe(1)),
    ],
)
def test_larger_and_wider_tiles_take_longer(shorter: dict[str, Any], longer: dict[str, Any]) -> None:
    assert length(shorter) < length(longer)

"""Of launches alike the one that takes the compiler longest is compiled."""

from __future__ import annotations

from typing import Any

import pytest

from grader.judge.background_compile import length


def recipe(size: int, dtype: str = "float16") -> dict[str, Any]:
    tensor = {"is": "tensor", "dtype": dtype, "aligned": True}
    arguments = {"x_ptr": tensor, "n": 1 << 20, "BLOCK": size, "CAUSAL": True}
    return {"kernel": "k", "arguments": arguments, "constants": ["BLOCK", "CAUSAL"]}


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

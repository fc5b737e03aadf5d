"""What a call was handed is known by name, however the learner's function takes it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.runner.metering import Metering


def all_named(x: Any, y: Any, eps: Any = 1e-5) -> None: ...


def some_named(x: Any, *others: Any) -> None: ...


def none_named(*everything: Any) -> None: ...


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (all_named, ["x", "y", "eps"]),
        (some_named, ["x", "argument 1", "argument 2"]),
        (none_named, ["argument 0", "argument 1", "argument 2"]),
    ],
)
def test_no_argument_is_forgotten(entry: Any, names: list[str]) -> None:
    runner = SimpleNamespace(module=SimpleNamespace(entry=entry))
    handed = Metering(runner)._by_name({"entry": "entry"}, ["a", "b", "c"])
    assert handed == dict(zip(names, "abc", strict=True))

"""Python that runs while launches are made once more is told of, unless it interprets them."""

from __future__ import annotations

import json
import sys
from collections import namedtuple

import numpy as np

from grader.runner.alone import Alone

Pair = namedtuple("Pair", ["one", "two"])


def helps() -> int:
    return 1


def test_a_function_of_the_file_is_told_of() -> None:
    with Alone([]) as alone:
        helps()
    line = helps.__code__.co_firstlineno
    assert f"helps(), a Python function (line {line})" in alone.found
    assert sys.getprofile() is None


def test_libraries_and_named_tuples_are_not() -> None:
    with Alone([]) as alone:
        np.isclose(np.ones(2), 1.0)
        json.dumps({"a": 1})
        Pair(1, 2)._replace(one=3)
    assert not [what for what in alone.found if "Python" in what]

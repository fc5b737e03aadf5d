"""Python that runs while launches are made once more is told of, unless it interprets them."""

from __future__ import annotations

import importlib
import json
import string
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

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


def test_who_called_the_others_is_told_first() -> None:
    names: dict[str, Any] = {}
    exec(
        compile("def helps():\n    return 1\n\ndef hook():\n    return helps()\n", "kernel.py", "exec"), names
    )
    with Alone([]) as alone:
        names["hook"]()
    told = [what.partition("()")[0] for what in alone.found if "Python" in what]
    assert told == ["hook", "helps"]


def test_libraries_and_named_tuples_are_not() -> None:
    with Alone([]) as alone:
        np.isclose(np.ones(2), 1.0)
        json.dumps({"a": 1})
        Pair(1, 2)._replace(one=3)
    assert not [what for what in alone.found if "Python" in what]


SOURCE = "def helps():\n    return 1\n"


@pytest.mark.parametrize("path", [str(np.__file__), str(json.__file__), "<frozen importlib._bootstrap>"])
def test_code_that_goes_by_the_name_of_a_librarys_file_is_told_of(path: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(SOURCE, path, "exec"), names)
    with Alone([]) as alone:
        names["helps"]()
    assert "helps(), a Python function (line 1)" in alone.found


@pytest.mark.parametrize("says", [{"__file__": np.__file__}, {"__name__": "namedtuple_Pair"}])
def test_text_that_says_it_is_a_librarys_is_told_of(says: dict[str, Any]) -> None:
    names = dict(says)
    exec(compile(SOURCE, "<string>", "exec"), names)
    with Alone([]) as alone:
        names["helps"]()
    assert "helps(), a Python function (line 1)" in alone.found


def test_what_looks_like_a_named_tuples_own_and_calls_something_else_is_told_of() -> None:
    make = eval("lambda _cls, one: _tuple_new(_cls, (one,))", {"_tuple_new": isinstance})
    with Alone([]) as alone:
        make(1, int)
    assert "<lambda>(), a Python function (line 1)" in alone.found


def test_what_python_and_torch_have_made_themselves_is_not() -> None:
    handle = TensorHandle.__new__(TensorHandle)
    with Alone([]) as alone:
        handle.__init__(np.ones(2, np.float32), tl.float32)
        importlib.reload(string)
    assert not [what for what in alone.found if "Python" in what]

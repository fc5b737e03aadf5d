"""The functions that a day asks for, read off its files: hidden tests that run import torch."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Callable, Collection
from functools import cache

from grader.course import catalog
from grader.course.catalog import Day


def entries(day: Day) -> frozenset[str]:
    """None of a bug hunt's, whose file is handed out; else the functions of the skeleton that are an `entry`,
    or where entries come out of a loop, named in any string.
    """
    return frozenset(_asked(day))


@cache
def _asked(day: Day) -> dict[str, list[str]]:
    """Its entries, and the names of their parameters."""
    if not day.to_fill_in:
        return {}
    body = ast.parse(day.skeleton.read_text(encoding="utf-8")).body
    nodes = list(ast.walk(ast.parse(day.hidden_tests.read_text(encoding="utf-8"))))
    told = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "entry"]
    if not all(isinstance(value, ast.Constant) for value in told):
        told = [node for node in nodes if isinstance(node, ast.Constant)]
    names = {value.value for value in told if isinstance(value, ast.Constant)}
    return {name: parameters for name, parameters in _functions(body).items() if name in names}


def _functions(body: list[ast.stmt]) -> dict[str, list[str]]:
    found = [node for node in body if isinstance(node, ast.FunctionDef)]
    return {node.name: [one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)] for node in found}


def askers(names: Collection[str], fits: Callable[[Day], bool] = lambda day: True) -> list[Day]:
    """The days whose kernel.py may have these functions: they ask for the same ones, the most that any does.

    None where that does not say it: of `add` and `total` either may be meant. An extra only where no day is.

    Args:
        fits: what else has to hold of a day.
    """
    every = [day for day in catalog.course() if entries(day) and entries(day) <= set(names) and fits(day)]
    found = [day for day in every if day.kind == "day"] or every
    most = max((len(entries(day)) for day in found), default=0)
    found = [day for day in found if len(entries(day)) == most]
    return found if len(set(map(entries, found))) == 1 else []


def readers(source: bytes) -> list[Day]:
    """The same of a file, as far as its functions can be read; their parameters have the same names, too."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        has = _functions(ast.parse(source).body)
        return askers(has, lambda day: all(has[name] == asked for name, asked in _asked(day).items()))
    return []

"""The functions that a day asks for, read off its files: hidden tests that run import torch."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection
from functools import cache

from grader.course import catalog
from grader.course.catalog import Day


@cache
def entries(day: Day) -> frozenset[str]:
    """None of a bug hunt's, whose file is handed out; else the functions of the solution that are an `entry`,
    or where entries come out of a loop, named in any string.
    """
    if not day.to_fill_in:
        return frozenset()
    body = ast.parse(day.solution.read_text(encoding="utf-8")).body
    nodes = list(ast.walk(ast.parse(day.hidden_tests.read_text(encoding="utf-8"))))
    told = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "entry"]
    if not all(isinstance(value, ast.Constant) for value in told):
        told = [node for node in nodes if isinstance(node, ast.Constant)]
    names = {value.value for value in told if isinstance(value, ast.Constant)}
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef) and node.name in names)


def askers(names: Collection[str]) -> list[Day]:
    """The days whose kernel.py may have these functions: they ask for the same ones, the most that any does.

    None where that does not say it: of `add` and `total` either may be meant. An extra only where no day is.
    """
    every = [day for day in catalog.course() if entries(day) and entries(day) <= set(names)]
    found = [day for day in every if day.kind == "day"] or every
    most = max((len(entries(day)) for day in found), default=0)
    found = [day for day in found if len(entries(day)) == most]
    return found if len(set(map(entries, found))) == 1 else []


def readers(source: bytes) -> list[Day]:
    """The same of a file, as far as its functions can be read."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        return askers([node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)])
    return []

"""Loops that go on for as long as numbers in memory say: a chain of tokens, a list that ends with -1.

At full size nobody knows what a tensor of the call's own holds: there such a loop ends at once, or never.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

LOADS = ("load", "gather", "atomic_cas", "atomic_xchg")


def led(kernel: Callable[..., Any]) -> bool:
    """Whether a `while` of this kernel asks for what its loop loads: then its counts are lower bounds."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kernel)))
    except (OSError, TypeError, SyntaxError):
        return False
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
    return any(_names(loop.test) & _loaded(loop) for loop in loops)


def _loaded(loop: ast.While) -> set[str]:
    """What its body sets to a loaded number."""
    sets = [node for node in ast.walk(loop) if isinstance(node, ast.Assign) and _loads(node.value)]
    return {name for node in sets for target in node.targets for name in _names(target)}


def _loads(value: ast.AST) -> bool:
    called = (node.func for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in LOADS for func in called)


def _names(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}

"""Loops that go on for as long as numbers in memory say: a chain of tokens, a list of a counted length.

At full size nobody knows what a tensor of the call's own holds: there such a loop ends at once, or never.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

LOADS = ("load", "gather", "atomic_cas", "atomic_xchg")


def led(kernel: Callable[..., Any], unstored: bool) -> bool:
    """Whether a loop of this kernel ends where memory says, and nobody knows it: its counts are lower bounds.

    Args:
        unstored: its programs loaded integers of which a launch, only sampled, stored some. A `for` over so
            many is such a loop then; a `while` that asks for what its body loads always is.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kernel)))
    except (OSError, TypeError, SyntaxError):
        return False
    loops = list(ast.walk(tree))
    asked = any(_names(loop.test) & _loaded(loop) for loop in loops if isinstance(loop, ast.While))
    counted = any(_names(loop.iter) & _loaded(tree) for loop in loops if isinstance(loop, ast.For))
    return asked or (unstored and counted)


def _loaded(code: ast.AST) -> set[str]:
    """What it sets to a loaded number."""
    sets = [node for node in ast.walk(code) if isinstance(node, ast.Assign) and _loads(node.value)]
    return {name for node in sets for target in node.targets for name in _names(target)}


def _loads(value: ast.AST) -> bool:
    called = (node.func for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in LOADS for func in called)


def _names(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}

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


def data_dependent(kernel: Callable[..., Any], unstored: bool) -> bool:
    """Whether a loop of this kernel ends where memory says, and nobody knows it: its counts are lower bounds.

    Args:
        unstored: its programs loaded integers of which a launch, only sampled, stored some. A `for` over so
            many is such a loop then, and what an `if` does that asks for one is not known either; a `while`
            that asks for what its body loads always is.
    """
    tree = _parsed(kernel)
    code = list(ast.walk(tree))
    loops = [loop for loop in code if isinstance(loop, ast.While) and not _waits(loop)]
    asked = any(_names(loop.test) & _set_by(loop, _loads) or _calls(loop.test, _loads) for loop in loops)
    if asked or not unstored:
        return asked
    loaded = _set_by(tree, _loads)
    counted = any(_names(loop.iter) & loaded for loop in code if isinstance(loop, ast.For))
    return counted or any(_names(choice.test) & loaded for choice in code if isinstance(choice, ast.If))


def queued(kernel: Callable[..., Any]) -> bool:
    """Whether its programs take from a queue until nothing is left in it: a `while` that asks for what an
    atomic addition gave. One that runs by itself takes what others would have had. Who adds 0 waits.
    """
    loops = (loop for loop in ast.walk(_parsed(kernel)) if isinstance(loop, ast.While))
    return any(_names(loop.test) & _set_by(loop, _takes) for loop in loops)


def _parsed(kernel: Callable[..., Any]) -> ast.AST:
    """Its source, or nothing where that is not known."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(kernel)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def _set_by(code: ast.AST, such: Callable[[ast.Call], bool]) -> set[str]:
    """What it sets to a number that comes of such a call."""
    assigned = [node for node in ast.walk(code) if isinstance(node, ast.Assign | ast.AugAssign)]
    sets = [node for node in assigned if _calls(node.value, such)]
    targets = [node.targets if isinstance(node, ast.Assign) else [node.target] for node in sets]
    return {name for each in targets for target in each for name in _names(target)}


def _calls(code: ast.AST, such: Callable[[ast.Call], bool]) -> bool:
    return any(isinstance(node, ast.Call) and such(node) for node in ast.walk(code))


def _loads(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in LOADS


def _waits(loop: ast.While) -> bool:
    """Whether nothing happens in it: a lock, which is free where programs run one by one."""
    return all(isinstance(statement, ast.Pass) for statement in loop.body)


def _takes(call: ast.Call) -> bool:
    adds = isinstance(call.func, ast.Attribute) and call.func.attr == "atomic_add"
    return adds and not (len(call.args) > 1 and ast.unparse(call.args[1]) == "0")


def _names(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}

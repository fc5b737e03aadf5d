"""Every `while` is told of its turns, and one that counts can be walked in part, as a `for` is.

Its test compares two numbers, of which every turn moves one by as much: then how often it goes round is known
after three turns, and the one that is moved can be moved on by many steps at once.
"""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Iterator
from typing import Any
from unittest import mock

from grader.interpreter import meanings, rewriting
from grader.meter.led import LOADS
from grader.meter.loops import Loops

TESTS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
MOVES = (ast.Add, ast.Sub)


@contextlib.contextmanager
def walked(loops: Loops) -> Iterator[None]:
    """While the block runs, kernels that are launched for the first time have their `while`s walked so."""
    with (
        mock.patch.object(rewriting, "Visitor", Counting),
        mock.patch.object(meanings, "begun", loops.begun, create=True),
        mock.patch.object(meanings, "turns", loops.turns, create=True),
        mock.patch.object(meanings, "moved", loops.moved, create=True),
    ):
        yield


class Counting(rewriting.Visitor):
    """Rewrites one kernel: `while at < n: …; at += step` becomes

    at = begun(at, n, step)
    for _ in turns(lambda: at < n, lambda: (at, n), "<"): …; at += moved(step)

    and one that does not count `for _ in turns(lambda: more): …`.
    """

    def visit_While(self, node: ast.While) -> Any:
        moves = _moves(node)
        self.generic_visit(node)
        if node.orelse:
            return node
        if moves is None or not isinstance(node.test, ast.Compare):
            return _loop(node, rewriting._call(node, "turns", rewriting._later(node.test)))
        # `at += step`, or `at = at + step`
        owner, name = (moves, "value") if isinstance(moves, ast.AugAssign) else (moves.value, "right")
        step = getattr(owner, name)
        setattr(owner, name, rewriting._call(moves, "moved", step))
        sides = ast.copy_location(ast.Tuple([node.test.left, *node.test.comparators], ast.Load()), node)
        word = ast.Constant(TESTS[type(node.test.ops[0])])
        turns = rewriting._call(
            node, "turns", rewriting._later(node.test), rewriting._later(copy.deepcopy(sides)), word
        )
        loop = _loop(node, turns)
        at = node.test.left
        if not isinstance(at, ast.Name) or word.value != "<" or not isinstance(_op(moves), ast.Add):
            return loop
        begun = rewriting._call(node, "begun", *copy.deepcopy([at, *node.test.comparators, step]))
        return [ast.copy_location(ast.Assign([ast.Name(at.id, ast.Store())], begun), node), loop]


def _loop(node: ast.While, turns: ast.expr) -> ast.For:
    return ast.copy_location(ast.For(ast.Name("__turn__", ast.Store()), turns, node.body, []), node)


def _moves(loop: ast.While) -> Any:
    """The statement that moves what the test asks for, of a loop that counts; else None."""
    test = loop.test
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or type(test.ops[0]) not in TESTS:
        return None
    stored = [name.id for statement in loop.body for name in _names(statement, ast.Store)]
    asked = {name.id for name in _names(test, ast.Load)} & set(stored)
    found = [(s, step) for s in loop.body for step in [_step(s, asked)] if step is not None]
    if len(asked) != 1 or len(found) != 1 or stored.count(*asked) != 1 or loop.orelse:
        return None
    moves, step = found[0]
    changes = {name.id for name in _names(step, ast.Load)} & set(stored)
    return None if changes or not (_plain(step) and _plain(test)) else moves


def _op(moves: Any) -> ast.operator:
    op: ast.operator = (moves if isinstance(moves, ast.AugAssign) else moves.value).op
    return op


def _step(statement: ast.stmt, asked: set[str]) -> ast.expr | None:
    """By what it moves one of these names."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, MOVES):
        return statement.value if _is(statement.target, asked) else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return None
    target, sum_ = statement.targets[0], statement.value
    alike = isinstance(sum_.left, ast.Name) and _is(target, {sum_.left.id} & asked)
    return sum_.right if alike and isinstance(sum_.op, MOVES) else None


def _is(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _plain(node: ast.expr) -> bool:
    """Whether it says the same each time, and nothing happens by it: no load, and no function of the file."""
    calls = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
    named = [f.attr for f in calls if isinstance(f, ast.Attribute)]
    return len(named) == len(calls) and not any(n in LOADS or n.startswith("atomic") for n in named)


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, context)]

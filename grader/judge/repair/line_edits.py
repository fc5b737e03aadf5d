"""Edits of whole lines: one that is moved, into a loop, out of it, or past another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from grader.judge.repair.scope import names


class Place(NamedTuple):
    """Where a line belongs, in the words and with the rate of a `Kind`."""

    says: str
    rate: float


LINES = {
    "out_of_loop": Place("the line outside of the loop", 0.2),
    "into_loop": Place("the line in the loop", 0.15),
    "order": Place("the line earlier or later", 0.06),
}


def moved(source: str, function: ast.FunctionDef) -> Iterator[tuple[str, int, str]]:
    """The kind, the line, and the whole file with one statement elsewhere."""
    lines = source.splitlines(keepends=True)
    for body, loop in _bodies(function.body, None):
        for at, one in enumerate(body):
            if isinstance(one, ast.FunctionDef | ast.For | ast.While) or _is_text(one):
                continue
            if loop and len(body) > 1:
                yield "out_of_loop", one.lineno, _placed(lines, one, _end(loop), loop)
                yield "out_of_loop", one.lineno, _placed(lines, one, loop.lineno - 1, loop)
            for other in (each for each in body if isinstance(each, ast.For | ast.While)):
                first = other.body[0]
                yield "into_loop", one.lineno, _placed(lines, one, _end(other), other.body[-1])
                yield "into_loop", one.lineno, _placed(lines, one, first.lineno - 1, first)
            for near in range(max(at - 4, 0), min(at + 5, len(body))):
                if near != at and _meet(one, body[near]):
                    to = _end(body[near]) if near > at else body[near].lineno - 1
                    yield "order", one.lineno, _placed(lines, one, to, body[near])


def _meet(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether their order matters: one sets what the other reads, or sets too."""
    sets, others = names(one, ast.Store), names(other, ast.Store)
    return bool(sets & (others | names(other, ast.Load)) or others & names(one, ast.Load))


def _placed(lines: list[str], one: ast.stmt, to: int, like: ast.stmt) -> str:
    """The file with a statement's lines behind the line `to`, as deep as another statement."""
    begin, end = one.lineno - 1, _end(one)
    shift = like.col_offset - one.col_offset
    taken = [" " * shift + line if shift > 0 else line[-shift:] for line in lines[begin:end]]
    if to >= end:
        return "".join([*lines[:begin], *lines[end:to], *taken, *lines[to:]])
    return "".join([*lines[:to], *taken, *lines[to:begin], *lines[end:]])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bodies(body: list[ast.stmt], loop: ast.stmt | None) -> Iterator[tuple[list[ast.stmt], ast.stmt | None]]:
    yield body, loop
    for node in body:
        if isinstance(node, ast.For | ast.While | ast.If | ast.With):
            inner = node if isinstance(node, ast.For | ast.While) else None
            yield from _bodies(node.body, inner)
            yield from _bodies(getattr(node, "orelse", []), None)

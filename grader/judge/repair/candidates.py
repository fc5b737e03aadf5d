"""From a file to the files that one edit makes of it, those that undo most mistakes first."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.judge.repair.edits import KINDS, Kind
from grader.judge.repair.lines import LINES, moved
from grader.judge.repair.scope import Scope

ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.stmt)
BARE = (
    ast.stmt,
    ast.keyword,
    ast.Call,
    ast.Subscript,
    ast.Tuple,
    ast.List,
)  # within these nothing needs brackets
NEAR = 20.0  # times as often as others lines are at fault that the diagnosis names


@dataclass(frozen=True)
class Candidate:
    """A file with one edit.

    Attributes:
        kind: of the edit, in `KINDS` or `LINES`.
        line: of the learner's file, that it changes.
        it: what stands there before.
        becomes: what stands there after it.
        source: of the whole file.
    """

    kind: str
    line: int
    it: str
    becomes: str
    source: str


class Candidates:
    """Every file that one edit makes, once.

    Args:
        source: of the learner's file.
        kept: lines that are not edited.
        near: lines that a fact names: they are edited first.
        launchers: edit no kernel.
    """

    def __init__(
        self,
        source: str,
        kept: frozenset[int],
        near: frozenset[int] = frozenset(),
        *,
        launchers: bool = False,
    ) -> None:
        self.source, self.raw, self.kept, self.near = source, source.encode(), kept, near
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        tree = ast.parse(source)
        named = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
        constants = [name.id for name in named if isinstance(name, ast.Name) and name.id.isupper()]
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        every = [(function, Scope(function, constants)) for function in functions]
        self.functions = [(function, scope) for function, scope in every if not (launchers and scope.kernel)]
        self.nodes = [
            (node, parent, scope)
            for function, scope in self.functions
            for statement in function.body
            for node, parent in _walk(statement, function)
        ]

    def __iter__(self) -> Iterator[Candidate]:
        seen = {self.raw}
        rates = {name: kind.rate for name, kind in KINDS.items()} | {n: one.rate for n, one in LINES.items()}
        turns = [
            (rate * (NEAR if near else 1), name, near)
            for name, rate in rates.items()
            for near in (True, False)
        ]
        for _, name, near in sorted(turns, key=lambda turn: -turn[0]):
            for candidate in self.of(name, near=near):
                whole = candidate.source.encode()
                if whole not in seen:
                    seen.add(whole)
                    yield candidate

    def of(self, name: str, *, near: bool) -> Iterator[Candidate]:
        """Those of one kind, on lines that are near or on others."""
        return self._edited(name, KINDS[name], near) if name in KINDS else self._moved(name, near)

    def _edited(self, name: str, kind: Kind, near: bool) -> Iterator[Candidate]:
        for node, parent, scope in self.nodes:
            if (node.lineno in self.near) != near or {node.lineno, node.end_lineno} <= self.kept:
                continue
            for place, other in kind.edits(node, scope):
                bare = place is not node or isinstance(parent, BARE) or isinstance(place, ast.stmt)
                begin = self.starts[place.lineno - 1] + place.col_offset
                end = self.starts[place.end_lineno - 1] + place.end_col_offset
                text = _text(other, bare)
                whole = (self.raw[:begin] + text + self.raw[end:]).decode()
                yield Candidate(name, place.lineno, self.raw[begin:end].decode(), text.decode(), whole)

    def _moved(self, name: str, near: bool) -> Iterator[Candidate]:
        lines = self.source.splitlines()
        for function, _ in self.functions:
            for kind, line, whole in moved(self.source, function):
                if kind == name and (line in self.near) == near and line not in self.kept:
                    yield Candidate(kind, line, lines[line - 1].strip(), "", whole)


def _text(other: ast.AST | str, bare: bool) -> bytes:
    text = other if isinstance(other, str) else ast.unparse(ast.fix_missing_locations(other))
    node = _read(text) if isinstance(other, str) else other
    return (text if bare or isinstance(node, ATOMS) else f"({text})").encode()


@functools.cache
def _read(text: str) -> ast.AST:
    """The expression behind a text; a statement where it is none."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Pass()


def _walk(node: Any, parent: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    if isinstance(node, ast.FunctionDef):
        return
    if hasattr(node, "lineno"):
        yield node, parent
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
            yield from _walk(child, node)

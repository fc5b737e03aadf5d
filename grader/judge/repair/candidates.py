"""From a file to the files that one edit makes of it, those that undo most mistakes first."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from grader.judge.repair.edits import KINDS
from grader.judge.repair.variable_roles import Scope, spelled

ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.stmt)
# Within these nothing needs brackets.
BARE = (ast.stmt, ast.keyword, ast.Call, ast.Subscript, ast.Tuple, ast.List)
# How much more often than others a line is at fault that a fact names; one that makes what such a line reads,
# or launches; one of a kernel; and one that a wrong result is made from, and no right one.
NEAR, BEHIND, KERNEL, ALONE = 3.0, 2.0, 3.0, 3.0
UNCOMPILED = ("loaded",)  # kinds of edits that mend only a kernel that does not compile
SELDOM = {"places": 0.1, "values": 0.3}  # and how often what is of the other sort is, where one is wrong
Wrong = Literal["places", "values", ""]


@dataclass(frozen=True)
class Candidate:
    """A file with one edit.

    Attributes:
        kind: of the edit, in `KINDS`.
        line: of the learner's file, that it changes.
        it: what stands there before.
        becomes: what stands there after it.
        source: of the whole file.
        begins: where that begins which stands there, if not on that line.
        last: the last line that it changes, of a call's arguments.
        function: that it lies in, if that is a kernel or what a kernel calls.
        body: the source of that function, from its `def` on.
        at: the line on which the statement begins that it changes.
        statement: what stands there then; empty of one that holds others.
    """

    kind: str
    line: int
    it: str
    becomes: str
    source: str
    begins: int = 0
    last: int = 0
    function: str = ""
    body: str = ""
    at: int = 0
    statement: str = ""


class Candidates:
    """Every file that one edit makes, once.

    Args:
        source: of the learner's file.
        kept: lines that are not edited.
        near: lines that a fact names: they are edited early.
        alone: lines that wrong results are made from, and no right ones.
        behind: lines that make what a near one reads, and launches.
        wrong: places, where it is addresses or masks, and no values; values, where a formula is known to be.
        compiles: the kernels compile, as they are.
    """

    def __init__(
        self,
        source: str,
        kept: frozenset[int],
        near: frozenset[int] = frozenset(),
        alone: frozenset[int] = frozenset(),
        behind: frozenset[int] = frozenset(),
        *,
        wrong: Wrong = "",
        compiles: bool = False,
    ) -> None:
        self.source, self.raw, self.kept = source, source.encode(), kept
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        tree = ast.parse(source)
        named = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
        constants = [name.id for name in named if isinstance(name, ast.Name) and name.id.isupper()]
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.functions = [(function, Scope(function, constants)) for function in functions]
        self.near, self.alone, self.behind, self.compiles = near, alone, behind, compiles
        kernels = [function for function, scope in self.functions if scope.kernel]
        self.inside = {line for one in kernels for line in range(one.lineno, (one.end_lineno or 0) + 1)}
        # A larger block hides many a mistake: block sizes are edited where the diagnosis names them alone.
        launchers = [function for function, scope in self.functions if not scope.kernel]
        sets = (node for one in launchers for node in ast.walk(one) if isinstance(node, ast.Assign))
        self.blocks = {node.lineno for node in sets if spelled(node.targets[0]).strip("()").isupper()}
        self.wrong = wrong
        self.nodes = [
            (_Place(function, scope, *place), self.weight(*_lines(place[0])) * self._share(place[0], scope))
            for function, scope in self.functions
            for statement in function.body
            for place in _walk(statement, function, statement)
        ]

    def __iter__(self) -> Iterator[Candidate]:
        seen = {self.raw}
        rates = {name: kind.rate for name, kind in KINDS.items()}
        weights = {weight for *_, weight in self.nodes if weight}
        for name in UNCOMPILED if self.compiles else ():
            del rates[name]
        turns = [(rate * weight, name, weight) for name, rate in rates.items() for weight in weights]
        for _, name, weight in sorted(turns, key=lambda turn: -turn[0]):
            for candidate in self.of(name, weight):
                whole = candidate.source.encode()
                if whole not in seen:
                    seen.add(whole)
                    yield candidate

    def _share(self, node: ast.AST, scope: Scope) -> float:
        other = "values" if scope.is_value(node) else "places" if scope.kernel else self.wrong
        return SELDOM[self.wrong] if self.wrong and other != self.wrong else 1.0

    def weight(self, *lines: int) -> float:
        """How often what stands on these lines is at fault, beside others; 0 where it is not to be edited."""
        return max((self._weight(line) for line in lines if line not in self.kept), default=0.0)

    def _weight(self, line: int) -> float:
        if line in self.blocks and line not in self.near:
            return 0.0
        named = NEAR if line in self.near else BEHIND if line in self.behind else 1.0
        made = ALONE * KERNEL if line in self.alone else KERNEL if line in self.inside else 1.0
        return named * made

    def of(self, name: str, weight: float) -> Iterator[Candidate]:
        """Those of one kind, on lines of this weight."""
        for place, own in self.nodes:
            node, parent = place.node, place.parent
            for old, other in KINDS[name].edits(node, place.scope) if own == weight else ():
                bare = old is not node or isinstance(parent, BARE) or isinstance(old, ast.stmt)
                (line, last), (begin, end) = _changed(old, other), self._span(old)
                if line not in self.kept or line == old.lineno:
                    text, before = _text(other, bare), self.raw[begin:end].decode()
                    where = self._where(place, begin, end, text)
                    whole = (self.raw[:begin] + text + self.raw[end:]).decode()
                    yield Candidate(name, line, before, text.decode(), whole, old.lineno, last, *where)

    def _where(self, place: _Place, begin: int, end: int, text: bytes) -> tuple[str, str, int, str]:
        """The function that an edit lies in and its source, the line of the statement and the statement."""
        if not place.scope.kernel:
            return "", "", 0, ""
        (first, last), (opens, ends) = self._span(place.function), self._span(place.statement)
        body = self.raw[first:begin] + text + self.raw[end:last]
        alone = opens <= begin and end <= ends and not hasattr(place.statement, "body")
        column = " " * place.statement.col_offset
        statement = column.encode() + self.raw[opens:begin] + text + self.raw[end:ends] if alone else b""
        return place.function.name, body.decode(), place.statement.lineno, statement.decode()

    def _span(self, node: Any) -> tuple[int, int]:
        """Where a node begins and ends in the file's bytes."""
        begin = self.starts[node.lineno - 1] + node.col_offset
        return begin, self.starts[node.end_lineno - 1] + node.end_col_offset


class _Place(NamedTuple):
    """A node, and what it lies in."""

    function: ast.FunctionDef
    scope: Scope
    node: Any
    parent: ast.AST
    statement: ast.stmt


def _changed(old: Any, other: Any) -> tuple[int, int]:
    """The first and the last line of the edit: in a call those of the arguments that are others."""
    same = isinstance(old, ast.Call) and isinstance(other, ast.Call) and old.func is other.func
    pairs = zip(old.args, other.args, strict=False) if same else ()
    lines = [was.lineno for was, becomes in pairs if was is not becomes] or [old.lineno]
    return lines[0], lines[-1]


def _lines(statement: ast.stmt) -> range:
    """Its lines; of a loop or a branch the first."""
    last = statement.lineno if hasattr(statement, "body") else statement.end_lineno
    return range(statement.lineno, (last or statement.lineno) + 1)


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


def _walk(node: Any, parent: ast.AST, statement: ast.stmt) -> Iterator[tuple[Any, ast.AST, ast.stmt]]:
    if isinstance(node, ast.FunctionDef):
        return
    statement = node if isinstance(node, ast.stmt) else statement
    if hasattr(node, "lineno"):
        yield node, parent, statement
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
            yield from _walk(child, node, statement)

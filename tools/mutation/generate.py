"""From a right file to its mutants: each edit of `operators.OPERATORS` alone, and every other byte as it is.

Edited are functions under `@triton.jit` and those that launch one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.catalog import Day
from grader.judge.repair.scope import name_of
from tools import planted
from tools.mutation.expression_edits import IDLE
from tools.mutation.operators import OPERATORS

# Arguments that change speed alone, and those that have an operator of their own.
KEYWORDS = {"num_warps", "num_stages", "num_ctas", "eviction_policy", "cache_modifier", "flatten"}
KEYWORDS |= {"warp_specialize", "disallow_acc_multi_buffer", "loop_unroll_factor", "axis", "other"}
ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Tuple, ast.stmt)


@dataclass(frozen=True)
class Mutant:
    """A right file with one edit.

    Attributes:
        file: `solution`, `fast`, or the stem of a right file.
        function: that holds the edit.
        number: of the line.
        operator: the edit's name in OPERATORS.
        line, becomes: the line before and after, stripped.
        source: of the whole file.
    """

    day: Day
    file: str
    function: str
    number: int
    operator: str
    line: str
    becomes: str
    source: str

    @property
    def name(self) -> str:
        """`day13:solution:softmax_kernel:L22:drop-mask`; several edits of a line and a kind share it."""
        return f"day{self.day.label}:{self.file}:{self.function}:L{self.number}:{self.operator}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What a line of tests/equivalents.jsonl names it by: an edit elsewhere leaves it alone."""
        return f"{self.file}:{self.function}", self.line, self.becomes


def files(day: Day) -> dict[str, Path]:
    """The right files of a day, by what a mutant calls them."""
    fast = {"fast": day.fast_solution} if day.fast_solution.is_file() else {}
    return {"solution": day.solution, **fast, **{path.stem: path for path in planted.right(day)}}


def mutants(day: Day, file: str, source: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines; what two edits make alike, once."""
    found = []
    for function in _mutated(ast.parse(source)):
        # Of the function alone: to read the whole file for every edit takes five times as long.
        where = _span(source, function)
        seen = {_meaning(source.encode()[slice(*where)])}
        for operator, node, other in _edits(function):
            text, meaning = _edited(source, where, node, other)
            if meaning not in seen:
                seen.add(meaning)
                at = node.lineno - 1
                lines = source.splitlines()[at].strip(), text.splitlines()[at].strip()
                found.append(Mutant(day, file, function.name, at + 1, operator, *lines, text))
    return sorted(found, key=lambda mutant: mutant.number)


def _mutated(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (_is_kernel(node) or _launches(node)):
            yield node


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).startswith("triton.jit") for each in function.decorator_list)


def _launches(function: ast.FunctionDef) -> bool:
    """Whether it holds `kernel[grid](…)`."""
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Subscript) for call in calls)


def _edits(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.AST]]:
    """The operator, the node and what stands in its place."""
    kernel = _is_kernel(function)
    for statement in function.body:
        for node in _walk(statement):
            for name, operator in OPERATORS.items():
                if operator.kernels if kernel else operator.launchers:
                    for edit in operator.edits(node):
                        where, other = edit if isinstance(edit, tuple) else (node, edit)
                        if isinstance(where, ast.expr | ast.stmt):
                            yield name, where, other


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """This node and those within, less those whose edit would do nothing, or no more than fail to compile."""
    yield node
    if name_of(node) in {"arange", "Config", *IDLE} or isinstance(node, ast.FunctionDef):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "slice") and not isinstance(value, ast.Name | ast.BinOp):
            continue
        for child in value if isinstance(value, list) else [value]:
            idle = isinstance(child, ast.keyword) and child.arg in KEYWORDS
            if isinstance(child, ast.AST) and not idle:
                yield from _walk(child)


def _span(source: str, function: ast.FunctionDef) -> tuple[int, int]:
    """Where its lines begin and end, in bytes."""
    return _at(source, function.lineno, 0), _at(source, (function.end_lineno or 1) + 1, 0)


def _at(source: str, line: int, column: int) -> int:
    return sum(map(len, source.encode().splitlines(keepends=True)[: line - 1])) + column


def _edited(
    source: str, where: tuple[int, int], node: ast.expr | ast.stmt, other: ast.AST
) -> tuple[str, str]:
    """The source with another node in the place of one, and what Python reads in that function.

    It stands in brackets where it would be read otherwise without.
    """
    raw = source.encode()
    begin = _at(source, node.lineno, node.col_offset)
    end = _at(source, node.end_lineno or 1, node.end_col_offset or 0)
    text = ast.unparse(ast.fix_missing_locations(other))
    spellings = (text,) if isinstance(other, ATOMS) else (text, f"({text})")
    meanings = [_meaning(raw[where[0] : begin] + each.encode() + raw[end : where[1]]) for each in spellings]
    chosen = 0 if meanings[0] == meanings[-1] else -1
    return (raw[:begin] + spellings[chosen].encode() + raw[end:]).decode(), meanings[chosen]


def _meaning(function: bytes) -> str:
    """What Python reads there; empty where that is nothing, as in `1.to(tl.float32)`."""
    inside = b"if True:\n" if function[:1].isspace() else b""  # of a class
    try:
        return ast.dump(ast.parse(inside + function))
    except SyntaxError:
        return ""

"""Where a block gets its start: behind the line of an access, what moved its pointer, or counted for it."""

from __future__ import annotations

import ast

from grader.judge.diagnosis.site import functions, last
from grader.judge.diagnosis.source import accesses

MOST = 4  # lines; more are no place to look at


def starts(source: str, line: int, given: frozenset[int]) -> list[int]:
    """The lines that make the start of what `line` accesses, and returns of the functions that they call; of
    too many those nearest to the access.

    Args:
        given: lines that are handed out, and never named.
    """
    every = {function.name: function for function in functions(ast.parse(source))}
    kernel = next((f for f in every.values() if f.lineno <= line <= (f.end_lineno or 0)), None)
    if kernel is None:
        return []
    assignments = [node for node in ast.walk(kernel) if isinstance(node, ast.Assign | ast.AugAssign)]
    there = [call.args[0] for _, call in accesses(source, line) if call.args]
    own = {line} - given if any(map(_counts, there)) else set[int]()
    moved = _behind(line, assignments, there, given | own, MOST)
    calls = {last(n.func) for node in moved for n in ast.walk(node) if isinstance(n, ast.Call)}
    returned = [
        n for name in calls & every.keys() for n in ast.walk(every[name]) if isinstance(n, ast.Return)
    ]
    lines = {node.lineno for node in (*moved, *returned)} - given
    lines |= own if len(lines) < MOST else set()
    return sorted(lines) if len(lines) <= MOST else []


def _behind(
    line: int,
    assignments: list[ast.Assign | ast.AugAssign],
    there: list[ast.expr],
    given: frozenset[int],
    most: int,
) -> list[ast.Assign | ast.AugAssign]:
    """The assignments before `line` that multiply or divide, and on which its names depend: those of what is
    set there, or of the addresses `there`; of more than `most` lines, those that are fewer steps away.
    """
    here = [node for node in assignments if node.lineno == line]
    names = set().union(*(_names(node.value) for node in here), *map(_names, there))
    left = [node for node in assignments if node.lineno < line and _counts(node.value)]
    found: list[ast.Assign | ast.AugAssign] = []
    while more := [node for node in left if node not in found and _set(node) & names]:
        if found and len({node.lineno for node in found + more} - given) > most:
            break
        found += more
        names = names.union(*(_names(node.value) for node in more))
    return found


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _set(node: ast.Assign | ast.AugAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return set().union(*map(_names, targets))


def _counts(value: ast.expr) -> bool:
    """Whether something is multiplied or divided in it, by tl.cdiv too."""
    nodes = [*ast.walk(value)]
    operators = (n.op for n in nodes if isinstance(n, ast.BinOp))
    return any(isinstance(operator, ast.Mult | ast.FloorDiv | ast.Mod) for operator in operators) or any(
        isinstance(n, ast.Call) and last(n.func) == "cdiv" for n in nodes
    )

"""How the file's kernels make the addresses that they load from and store to, line by line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from grader.diagnosis.source_context import functions, jitted, last

WORDS = ("load", "store", "atomic_add", "atomic_max", "atomic_min")
VALUES = "load", "rand", "rand4x", "randint", "randint4x"  # what gives values that no address has


@dataclass(frozen=True)
class Part:
    """An expression that an address is made of: in the access, or what a name is set to."""

    line: int
    sets: set[str]
    value: ast.expr
    adds: bool  # to what the name holds: +=

    @property
    def names(self) -> set[str]:
        names = {n.id for n in ast.walk(self.value) if isinstance(n, ast.Name)}
        return names | (self.sets if self.adds else set())

    def has(self, *words: str) -> bool:
        return any(isinstance(n, ast.Call) and last(n.func) in words for n in ast.walk(self.value))


def strides_of(name: str, tree: ast.Module) -> set[int]:
    """The lines on which a launcher takes strides of a tensor, or kernels use those that are called so."""
    lines = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "stride" and last(node.value) == name:
            lines.add(node.lineno)
        if isinstance(node, ast.Name) and re.fullmatch(rf"stride_{name}[a-z0-9]?", node.id):
            lines.add(node.lineno)
    return lines


def formed(tree: ast.Module, lines: Collection[int]) -> set[int]:
    """The lines on which what is stored on these lines is computed; those themselves, where it is there."""
    found = set[int]()
    for kernel in filter(jitted, functions(tree)):
        stores = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and n.lineno in lines)
        for call in (n for n in stores if last(n.func) in WORDS[1:] and len(n.args) > 1):
            found.add(_formed(call.args[1], call.lineno, [*assignments(kernel)]))
    return found or {*lines}


def _formed(value: ast.expr, line: int, given: list[Part]) -> int:
    """The line on which a value is computed that is read on this one, cast and shaped as it may be since."""
    while True:
        if isinstance(value, ast.Subscript):
            value = value.value
        elif (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to"
        ):
            value = value.func.value
        elif made := [part for part in given if last(value) in part.sets and part.line < line]:
            value, line = max(made, key=lambda part: part.line).value, max(part.line for part in made)
        else:
            return line


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def assignments(kernel: ast.AST) -> Iterator[Part]:
    """What its names are set to, and what loops count."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield Part(
                node.lineno, set().union(*map(_names, targets)), node.value, isinstance(node, ast.AugAssign)
            )
        if isinstance(node, ast.For):
            yield Part(node.lineno, _names(node.target), node.iter, adds=False)


MASK = {"load": 1, "store": 2}  # which argument it is


def decided(source: str, line: int) -> bool:
    """Whether the mask of an access on this line is made of what was loaded or drawn before."""
    return _by_values(source, line, lambda call: call.args[MASK[last(call.func)] :][:1], "mask")


def placed(source: str, line: int) -> bool:
    """Whether the address of an access on this line is."""
    return _by_values(source, line, lambda call: call.args[:1], "pointer")


def _by_values(source: str, line: int, given: Callable[[ast.Call], list[ast.expr]], keyword: str) -> bool:
    for kernel in (one for one in functions(ast.parse(source)) if jitted(one)):
        known = [*assignments(kernel)]
        for call in (node for node in ast.walk(kernel) if isinstance(node, ast.Call)):
            if last(call.func) in MASK and call.lineno <= line <= (call.end_lineno or 0):
                named = [word.value for word in call.keywords if word.arg == keyword]
                behind = [Part(line, set(), made, adds=False) for made in named or given(call)]
                while more := [p for p in known if p not in behind and any(p.sets & b.names for b in behind)]:
                    behind += more
                if any(part.has(*VALUES) for part in behind):
                    return True
    return False

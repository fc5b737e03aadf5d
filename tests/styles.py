"""Which right files the suite grades: so few that each thing of Triton's that any of them uses is used."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

ROOTS = {"tl", "triton", "gl", "libdevice"}
OPTIONS = {"num_warps", "num_stages", "num_ctas", "maxnreg"}


def used(path: Path) -> frozenset[str]:
    """Functions of Triton and their options, `tl.dot` and `tl.dot(acc)`; and kinds of Python's syntax."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found.add(type(node).__name__)
        if isinstance(node, ast.Attribute):
            found.add(named(node))
        if isinstance(node, ast.Call):
            called = named(node.func)
            options = [word.arg for word in node.keywords if word.arg]
            found.update(f"{called}({name})" for name in options if called or name in OPTIONS)
    return frozenset(found - {""})


def named(node: ast.AST) -> str:
    """`tl.math.exp2`; nothing where it is not one of Triton's."""
    if isinstance(node, ast.Name):
        return node.id if node.id in ROOTS else ""
    above = named(node.value) if isinstance(node, ast.Attribute) else ""
    return above and f"{above}.{node.attr}"


def fewest(files: Iterable[Path], seen: Iterable[Path]) -> list[Path]:
    """Of some files so few that all which any of them uses stands in them, or in what is seen elsewhere."""
    uses = {path: used(path) for path in files}
    left = frozenset().union(*uses.values()).difference(*map(used, seen))
    taken: list[Path] = []
    while left:
        # By what a byte brings: long files take long.
        taken.append(max(uses, key=lambda path: (len(uses[path] & left) / path.stat().st_size, path.name)))
        left -= uses[taken[-1]]
    return taken

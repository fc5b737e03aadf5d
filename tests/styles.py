"""Which right files the suite grades: so few that each thing of Triton's that any of them uses is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

OPTIONS = {"num_warps", "num_stages", "num_ctas", "maxnreg"}


def used(path: Path) -> frozenset[str]:
    """Functions of Triton and their options, `tl.dot` and `tl.dot(acc)`; and kinds of Python's syntax."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found.add(type(node).__name__)
        if isinstance(node, ast.Attribute) and re.fullmatch(
            r"(tl|triton|gl|libdevice)(\.\w+)+", ast.unparse(node)
        ):
            found.add(ast.unparse(node))
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            ours = re.fullmatch(r"(tl|triton|gl)(\.\w+)+", called)
            options = [word.arg for word in node.keywords if word.arg]
            found.update(
                f"{called if ours else ''}({option})" for option in options if ours or option in OPTIONS
            )
    return frozenset(found)


def fewest(files: Iterable[Path], seen: Iterable[Path], first: Iterable[list[Path]] = ()) -> list[Path]:
    """Of some files so few that all which any of them uses stands in them, or in what is seen elsewhere.

    Args:
        first: of each of these lists one is taken, the one that brings most.
    """
    uses = {path: used(path) for path in files}
    left = frozenset().union(*uses.values()).difference(*map(used, seen))
    taken: list[Path] = []
    choices = iter([*first])
    while (among := next(choices, None)) or left:
        # Of what a line brings: long files take long.
        best = max(among or uses, key=lambda path: (len(uses[path] & left) / path.stat().st_size, path.name))
        taken.append(best)
        left -= uses[best]
    return taken

"""What messages call a result, and one element of it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from functools import lru_cache

NAMED = 5  # cases that a message names


def a_few(names: Sequence[str], like: str) -> str:
    """Names of cases that come near what was typed, or some of all of them."""
    close = difflib.get_close_matches(like, names, n=NAMED, cutoff=0.5)
    return ", ".join(close or [*names[:: max(len(names) // NAMED, 1)][:NAMED], "…"])


@lru_cache
def returned(source: bytes, entry: str) -> tuple[str, ...]:
    """What the learner's function calls the results it returns: its last `return dq, dk, dv`.

    Returns:
        nothing where it returns something else than variables.
    """
    tree = ast.parse(source.decode("utf-8-sig", "replace"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry]
    inside = (node for function in functions for node in ast.walk(function))
    last = max((n for n in inside if isinstance(n, ast.Return)), key=lambda n: n.lineno, default=None)
    values = last.value.elts if last and isinstance(last.value, ast.Tuple) else []
    names = [value.id for value in values if isinstance(value, ast.Name)]
    return tuple(names) if len(names) == len(values) else ()


def called(number: int, asked_for: int, names: Sequence[str]) -> str:
    """The name of a result; empty for the only one where it has none."""
    if len(names) == asked_for:
        return names[number]
    return "" if asked_for == 1 else f"output {number}"


def element(name: str, index: Sequence[int]) -> str:
    """`dk[0, 8]`, `[0, 8]` of the only result, `[0, 8] of the gradient of x`; empty for the only number."""
    place = f"[{', '.join(map(str, index))}]" if index else ""
    if name.isidentifier() or not place:
        return name + place
    return f"{place} of {name}" if name else place

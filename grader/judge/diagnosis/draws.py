"""Where a file draws random numbers, and what it does with them."""

from __future__ import annotations

import ast

from grader.judge.diagnosis.addresses import assignments
from grader.judge.diagnosis.site import assigned, functions, jitted, last


def drawn(tree: ast.Module) -> set[int]:
    """Where random numbers are drawn, and where the seeds and offsets are made that they are drawn by."""
    lines = set[int]()
    for kernel in filter(jitted, functions(tree)):
        calls = [n for n in ast.walk(kernel) if isinstance(n, ast.Call) and _draws(n)]
        by = {n.id for c in calls for given in c.args for n in ast.walk(given) if isinstance(n, ast.Name)}
        lines |= {part.line for part in assignments(kernel) if part.sets & by}
        lines |= {c.lineno for c in calls}
    return lines


def again_in_backward(tree: ast.Module) -> set[int]:
    """Where a backward() calls what its file has, or apply()."""
    known = {one.name for one in functions(tree)} | {"apply"}
    passes = (one for one in functions(tree) if one.name == "backward")
    calls = (n for one in passes for n in ast.walk(one) if isinstance(n, ast.Call))
    return {n.lineno for n in calls if last(n.func) in known}


def compared(tree: ast.Module) -> set[int]:
    """Where what was drawn at random is compared with something."""
    lines = set[int]()
    for kernel in filter(jitted, functions(tree)):
        random = {
            name
            for node in ast.walk(kernel)
            if isinstance(node, ast.Assign) and any(map(_draws, ast.walk(node.value)))
            for name in assigned(node)
        }
        given = [*assignments(kernel)]
        while more := set().union(*(part.sets for part in given if part.names & random)) - random:
            random |= more
        comparisons = (node for node in ast.walk(kernel) if isinstance(node, ast.Compare))
        lines |= {
            node.lineno
            for node in comparisons
            if any(_draws(n) or (isinstance(n, ast.Name) and n.id in random) for n in ast.walk(node))
        }
    return lines


def _draws(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last(node.func).startswith("rand")

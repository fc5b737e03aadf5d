"""Which variables of a source may hold a maximum, followed through its assignments and calls."""

from __future__ import annotations

import ast

from grader.judge.diagnosis.source import EXPONENTIALS, calls

MAXIMA = ("max", "maximum")


def subtracts_maximum(source: str) -> bool:
    """Whether what an exponential is given may hold a tl.max or tl.maximum, however it came there.

    What is called lse is no less than one; and a maximum that is stored may be loaded again.
    """
    holders = _holders(ast.parse(source))
    given = [call.args[0] if call.args else call.func for name, call in calls(source) if name in EXPONENTIALS]
    stored = [call.args[1] for name, call in calls(source) if name == "store" and len(call.args) > 1]
    return any(_holds(value, holders) for value in given + stored)


def _holders(tree: ast.Module) -> set[str]:
    """Names that may hold a maximum; those of all functions in one set, which is never too small."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    passed = list(_passed(tree, functions))
    found: set[str] = set()
    while True:
        more = {name for name, value in passed if _holds(value, found)}
        more |= {name for name, function in functions.items() if _holds(function, found)}
        if more <= found:
            return found
        found |= more


def _passed(tree: ast.Module, functions: dict[str, ast.FunctionDef]) -> list[tuple[str, ast.AST]]:
    """Each variable with what it is given, and each parameter with what a call in the file hands it."""
    pairs: list[tuple[str, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
            pairs += [(name.id, node.value) for name in names if isinstance(name.ctx, ast.Store)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            parameters = functions[node.func.id].args.args
            pairs += [(p.arg, value) for p, value in zip(parameters, node.args, strict=False)]
            pairs += [(given.arg, given.value) for given in node.keywords if given.arg]
    return pairs


def _holds(node: ast.AST, holders: set[str]) -> bool:
    """Whether it names a maximum, or takes one; Python's own max() is none."""
    return any(
        (isinstance(each, ast.Name) and (each.id in holders or "lse" in each.id.lower()))
        or (isinstance(each, ast.Attribute) and each.attr in MAXIMA)
        for each in ast.walk(node)
    )

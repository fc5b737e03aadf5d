"""What the learner's source itself says: which functions it calls, and with which arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.diagnosis.source_context import spelled


def calls(source: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call, by the last part of the function's name: `load` for tl.load(…)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            yield (node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id), node


def called(source: str, names: set[str]) -> bool:
    """Whether any function of these names is called."""
    return any(name in names for name, _ in calls(source))


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument, None when it is not given."""
    return next((given.value for given in call.keywords if given.arg == name), None)


def accesses(source: str, line: int) -> list[tuple[str, ast.Call]]:
    """The loads, stores and atomics that span this line."""
    there = [(name, call) for name, call in calls(source) if call.lineno <= line <= (call.end_lineno or 0)]
    return [(name, call) for name, call in there if name in ("load", "store") or name.startswith("atomic_")]


def masked_at(source: str, line: int) -> bool:
    """Whether a load, store or atomic that spans this line is given a mask."""
    return any(
        keyword(call, "mask") or len(call.args) > (1 if name == "load" else 2)
        for name, call in accesses(source, line)
    )


def limits(source: str, line: int) -> list[int]:
    """The lines on which the variables of a mask on this line are given their comparisons."""
    masks = [keyword(call, "mask") for _, call in accesses(source, line)]
    names = {n.id for mask in masks if mask for n in ast.walk(mask) if isinstance(n, ast.Name)}
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    around = (f for f in functions if f.lineno <= line <= (f.end_lineno or 0))
    return sorted(
        {
            node.lineno
            for function in around
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and any(isinstance(each, ast.Compare) for each in ast.walk(node.value))
            if names & {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        }
    )


def made(source: str, line: int) -> str:
    """`, made on lines 18 and 19`, of a mask on this line."""
    lines = limits(source, line)
    return f", made on {spelled(lines)}" if lines else ""


def takes_maximum(source: str) -> bool:
    """Whether a kernel may take a maximum: tl.max or tl.maximum, and not Python's own max()."""
    named = (
        name in ("max", "maximum") and isinstance(call.func, ast.Attribute) for name, call in calls(source)
    )
    return any(named)


def dots_in_tf32(source: str) -> list[int]:
    """Lines of the tl.dot calls that multiply fp32 as TF32; none where one leaves its precision open."""
    lines = []
    for name, call in calls(source):
        if name != "dot":
            continue
        if any(given.arg is None for given in call.keywords):
            return []
        precision = keyword(call, "input_precision") or keyword(call, "allow_tf32")
        if precision is None or ast.unparse(precision) in ("'tf32'", "True"):
            lines.append(call.lineno)
        elif not isinstance(precision, ast.Constant):
            return []
    return lines

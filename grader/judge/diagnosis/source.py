"""What the learner's source itself says: which functions it calls, and with which arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.judge.diagnosis.site import spelled

EXPONENTIALS = {"exp", "exp2", "sigmoid", "softmax", "sinh", "cosh", "expm1", "exp10"}
FILLS = ("other", "padding_option", "padding")  # by a mask, of a block pointer, of a descriptor


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


def masked_lanes_hold_infinity(source: str) -> bool:
    """Whether some load or tl.where gives Inf of either sign to the lanes that its mask leaves out."""
    return bool(_infinities(source))


def masked_lanes_hold_positive_infinity(source: str) -> bool:
    """The same for +Inf alone."""
    return any("-" not in text and "neg" not in text for text in _infinities(source))


def loads_hold_infinity(source: str) -> bool:
    """Whether a load gives it to its masked lanes; else they are given it later."""
    others = [keyword(call, "other") for name, call in calls(source) if name == "load"]
    return any(other is not None and "inf" in ast.unparse(other).lower() for other in others)


def nan_lanes(source: str) -> tuple[str, int] | None:
    """What gives NaN to lanes without an element, `padding_option='nan'` of a block pointer for one, and its
    line.
    """
    given = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.keyword) and n.arg in FILLS)
    found = (n for n in given if re.search(r"\bnan\b", ast.unparse(n.value).lower()))
    return next(((ast.unparse(n), n.value.lineno) for n in found), None)


def _infinities(source: str) -> list[str]:
    """What such lanes are given; it may have a name: NEG_INF."""
    others = [keyword(call, "other") for name, call in calls(source) if name == "load"]
    others += [arg for name, call in calls(source) if name == "where" for arg in call.args[1:]]
    texts = (ast.unparse(other).lower() for other in others if other is not None)
    return [text for text in texts if "inf" in text]


def takes_maximum(source: str) -> bool:
    """Whether a kernel may take a maximum: tl.max or tl.maximum, and not Python's own max()."""
    named = (
        name in ("max", "maximum") and isinstance(call.func, ast.Attribute) for name, call in calls(source)
    )
    return any(named)


def divides(source: str) -> bool:
    """Whether a function of the file divides by something other than a plain number."""
    by = (
        n.right for n in ast.walk(ast.parse(source)) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)
    )
    return any(not isinstance(each, ast.Constant) for each in by)


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


def dots_in_half(source: str) -> list[int]:
    """Lines of the tl.dot calls that are told to add up in fp16."""
    dots = ((call, keyword(call, "out_dtype")) for name, call in calls(source) if name == "dot")
    return [call.lineno for call, dtype in dots if dtype is not None and "float16" in ast.unparse(dtype)]


def adds_to_garbage(source: str) -> bool:
    """Whether tl.atomic_add is used, and nothing anywhere is filled with a first value."""
    fills = {"zeros", "zeros_like", "new_zeros", "zero_", "fill_", "full", "full_like", "copy_", "clone"}
    if not called(source, {"atomic_add"}) or called(source, fills):
        return False
    stored = (call.args[1] for name, call in calls(source) if name == "store" and len(call.args) > 1)
    return not any(isinstance(value, ast.Constant) for value in stored)

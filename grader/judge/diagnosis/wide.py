"""Which products of an address are counted in 32 bits, where others are in 64 already."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from grader.judge.diagnosis.addresses import WORDS, Part, assignments, parts_of
from grader.judge.diagnosis.site import functions, jitted, last, parameters, quoted, spelled

FIRST = "Make a number int64 before a stride or a block multiplies it: .to(tl.int64)."
MOST = 3  # products that a sentence names


def advice(source: str, line: int, turned: Collection[int] = ()) -> str:
    """How to count in 64 bits what passed 2³¹ on the way to an access: the end of a sentence.

    Args:
        turned: the lines on which something is known to have passed it; of other products nothing is said.
    """
    if not any(_mentions(kernel) for kernel in _kernels(source)):
        return FIRST
    found = _counted(source, line, turned)
    if turned and not found:
        return (
            f"A number passes 2³¹ in int32 on {spelled(sorted(turned))}. Make it int64 before: .to(tl.int64)."
        )
    if not 0 < len(found) <= MOST:
        return "Make every offset int64 before it is multiplied: .to(tl.int64)."
    *most, final = (f"{text} on line {at}" for text, at in found.items())
    listed = f"{', '.join(most)} and {final}" if most else final
    return f"Counted in int32: {listed}. Make one side int64 before they are multiplied: .to(tl.int64)."


def in_int32(source: str, line: int, turned: Collection[int]) -> str:
    """The same in short: `line 21 counts offs_m * stride_qm in int32`."""
    found = _counted(source, line, turned)
    if not 0 < len(found) <= MOST:
        return f"{spelled(sorted({*turned} or {line}))} counts an offset in int32"
    lines = sorted({*found.values()})
    texts = {at: " and ".join(text for text, there in found.items() if there == at) for at in lines}
    return "; ".join(f"line {at} counts {texts[at]} in int32" for at in lines)


def _counted(source: str, line: int, turned: Collection[int]) -> dict[str, int]:
    """The products in int32 behind an access, with their lines."""
    every = [product for kernel in _kernels(source) for product in _narrow(kernel, line)]
    return {one.text: one.line for one in every if {*one.lines} & {*turned} or not (turned or one.plain)}


def _kernels(source: str) -> list[ast.FunctionDef]:
    return [kernel for kernel in functions(ast.parse(source)) if jitted(kernel)]


def all_narrow(source: str, line: int) -> str:
    """The kernel around this line, if nothing in it is made int64; an empty string where something is."""
    kernels = (f for f in functions(ast.parse(source)) if f.lineno <= line <= (f.end_lineno or 0))
    return next((k.name for k in kernels if jitted(k) and not _mentions(k)), "")


def _mentions(kernel: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Call) and _widens(n) for n in ast.walk(kernel))


@dataclass(frozen=True)
class Product:
    """One that no 64 bits take part in.

    Attributes:
        line: of what it is a part of.
        lines: its own.
        plain: a constant is multiplied, as in pid * BLOCK: that passes 2³¹ last.
    """

    text: str
    line: int
    lines: range
    plain: bool


def _narrow(kernel: ast.FunctionDef, line: int) -> Iterator[Product]:
    """Those of the addresses on a line."""
    given, constants = [*assignments(kernel)], {n for n, constant in parameters(kernel).items() if constant}
    wide = _wide(given)
    accesses = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and last(n.func) in WORDS and n.args)
    for call in accesses:
        if not call.lineno <= line <= (call.end_lineno or 0):
            continue
        for part in parts_of(Part(call.lineno, set(), call.args[0], False), given):
            for node in _behind(part.value):
                if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
                    continue
                plain = any(
                    isinstance(s, ast.Constant) or _names(s) <= constants for s in (node.left, node.right)
                )
                if not _is_wide(node, wide):
                    lines = range(node.lineno, (node.end_lineno or 0) + 1)
                    yield Product(quoted(node), part.line, lines, plain)


def _behind(value: ast.expr) -> Iterator[ast.AST]:
    """What a number is made of, but not what it is divided by, however large: pid // (tiles_m * tiles_n)."""
    yield value
    divided = isinstance(value, ast.BinOp) and isinstance(value.op, ast.FloorDiv | ast.Mod)
    for child in [value.left] if isinstance(value, ast.BinOp) and divided else ast.iter_child_nodes(value):
        if isinstance(child, ast.expr):
            yield from _behind(child)


def _wide(given: list[Part]) -> set[str]:
    """Names that hold 64 bits: what is made so, and what that is part of, or what may, as it was loaded."""
    found = set[str]()
    while more := {n for part in given if _is_wide(part.value, found) for n in part.sets} - found:
        found |= more
    return found


def _is_wide(node: ast.expr, wide: set[str]) -> bool:
    inside = [*ast.walk(node)]
    return bool(_names(node) & wide) or any(
        isinstance(n, ast.Call) and (_widens(n) or last(n.func) == "load") for n in inside
    )


def _widens(call: ast.Call) -> bool:
    return any(
        isinstance(n, ast.Attribute) and n.attr in ("int64", "uint64") for a in call.args for n in ast.walk(a)
    )


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

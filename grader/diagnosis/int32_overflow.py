"""Numbers that pass 2³¹ in int32 on the way to an address: on which lines, and what helps."""

from __future__ import annotations

import ast
from collections.abc import Collection

from grader.diagnosis.source_context import functions, jitted, quoted, spelled

FIRST = "Make a number int64 before a stride or a block multiplies it: .to(tl.int64)."


def advice(source: str, turned: Collection[int] = ()) -> str:
    """How to count in 64 bits: the end of a sentence.

    Args:
        turned: the lines on which a number is known to have passed 2³¹.
    """
    if not any(map(_widens, ast.walk(ast.parse(source)))):
        return FIRST
    if turned:
        return (
            f"A number passes 2³¹ in int32 on {spelled(sorted(turned))}. Make it int64 before: .to(tl.int64)."
        )
    return "Make every offset int64 before it is multiplied: .to(tl.int64)."


def in_int32(source: str, line: int, turned: Collection[int]) -> str:
    """The same in short, for an access on a line: `line 21 counts offs_m * stride_qm in int32`."""
    (first, *others) = lines = sorted(turned) or [line]
    nodes = [
        n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)
    ]
    products = [quoted(n) for n in nodes if turned and not others and n.lineno == first]
    counted = products[0] if len(products) == 1 else "an offset"
    return f"{spelled(lines)} count{'s' * (not others)} {counted} in int32"


def all_narrow(source: str, line: int) -> str:
    """The kernel around this line, if nothing in it is made int64; an empty string where something is."""
    kernels = (f for f in functions(ast.parse(source)) if f.lineno <= line <= (f.end_lineno or 0))
    return next((k.name for k in kernels if jitted(k) and not any(map(_widens, ast.walk(k)))), "")


def _widens(node: ast.AST) -> bool:
    """Whether it is `.to(tl.int64)`, or another call that is told so."""
    given = node.args if isinstance(node, ast.Call) else []
    inside = (n for each in given for n in ast.walk(each))
    return any(isinstance(n, ast.Attribute) and n.attr in ("int64", "uint64") for n in inside)

"""Tiles: which side of one a mask does not limit, and whether strides go by name with their offsets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from grader.judge.diagnosis.addresses import Part, assignments, parts_of
from grader.judge.diagnosis.site import functions, last, parameters, quoted
from grader.judge.diagnosis.source import accesses, keyword

OFFSET = re.compile(r"(?:offs?|offsets?|idx|rows?|cols?)_(\w)")
STRIDE = re.compile(r"stride_\w*?(\w)")


def unlimited(source: str, line: int) -> list[str]:
    """The offsets of a tile, `offs_k[None, :]`, along whose axis the mask of an access limits nothing.

    Empty where there is no mask, or where it or the address does not tell axes by [:, None] and [None, :].
    What wraps around, (offs_n % n)[None, :], needs no limit.
    """
    given, calls = _around(source, line)
    found: dict[int, str] = {}
    for _, call in calls:
        mask = keyword(call, "mask")
        limited = {axis for axis, _ in _sides(_behind(mask, line, given))} if mask else set()
        sides = [*_sides(_behind(call.args[0], line, given))] if limited and call.args else []
        found |= {axis: quoted(node) for axis, node in sides if axis not in limited and not _wraps(node)}
    return list(found.values())


def wrapped(source: str, line: int) -> str:
    """Offsets in the address of an access that wrap around, `(offs_n % n)[None, :]` or `offs_n % n`."""
    given, calls = _around(source, line)
    starts = [call.args[0] for _, call in calls if call.args]
    sides = (s for start in starts for s in _sides(_behind(start, line, given)))
    found = [quoted(node) for _, node in sides if _wraps(node)]
    plain = (n for start in starts for n in ast.walk(start) if isinstance(n, ast.BinOp))
    return next(iter([*found, *(quoted(n) for n in plain if isinstance(n.op, ast.Mod))]), "")


def unmasked(source: str, line: int) -> tuple[str, int] | None:
    """A product that moves an address and stands in no limit of its mask, `row * n_cols`, and its line: where
    it is wrong, so is the address, whatever the mask lets through. Where the mask speaks of none of its
    variables, that is said behind the product.
    """
    given, calls = _around(source, line)
    handed = {name for function in functions(ast.parse(source)) for name in parameters(function)}
    for _, call in calls:
        mask = keyword(call, "mask")
        if mask is None or not call.args:
            continue
        parts = parts_of(Part(line, set(), call.args[0], False), given)
        limits = [*parts_of(Part(line, set(), mask, False), given)]
        limited = {quoted(product) for part in limits for product in _products(part)}
        found = [(p, part.line) for part in parts for p in _products(part) if quoted(p) not in limited]
        if found:
            product, at = found[-1]
            spoken = {name for part in limits for name in _names(part.value)} - handed
            silent = spoken.isdisjoint(_names(product))
            return quoted(product) + ", of which the mask says nothing" * silent, at
    return None


def _names(node: ast.AST) -> Iterator[str]:
    return (name.id for name in ast.walk(node) if isinstance(name, ast.Name))


def _products(part: Part) -> list[ast.BinOp]:
    """Products of variables, the outermost ones."""
    nodes = [n for n in ast.walk(part.value) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
    inner = {id(n) for outer in nodes for n in ast.walk(outer) if n is not outer}
    outer = (n for n in nodes if id(n) not in inner)
    return [n for n in outer if any(_names(n))]


def by_name(source: str, line: int) -> bool | None:
    """Whether each stride of an address stands by an offset with its letter, as stride_am by offs_m.

    None where the names do not tell.
    """
    given, calls = _around(source, line)
    pairs = list[tuple[str, str]]()
    for _, call in calls:
        for part in _behind(call.args[0], line, given) if call.args else ():
            for node in ast.walk(part):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                    names = [*map(_name, (node.left, node.right))]
                    offset = next((m[1] for name in names if (m := OFFSET.fullmatch(name))), "")
                    stride = next((m[1] for name in names if (m := STRIDE.fullmatch(name))), "")
                    pairs += [(offset, stride)] if offset and stride else []
    return all(offset == stride for offset, stride in pairs) if len(pairs) > 1 else None


def inner_block(source: str, line: int) -> str:
    """The constant that says how many columns the first factor of the tl.dot on a line has; empty where the
    source does not tell.
    """
    kernel = next((f for f in functions(ast.parse(source)) if f.lineno <= line <= (f.end_lineno or 0)), None)
    if kernel is None:
        return ""
    given, constants = [*assignments(kernel)], {n for n, constant in parameters(kernel).items() if constant}
    dots = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and last(n.func) == "dot" and n.args)
    factors = {_name(call.args[0]) for call in dots if call.lineno <= line <= (call.end_lineno or 0)}
    loaded = [part for part in given if part.sets & factors and part.has("load")]
    loads = (n for part in loaded for n in ast.walk(part.value) if isinstance(n, ast.Call) and n.args)
    starts = [call.args[0] for call in loads if last(call.func) == "load"]
    sides = (side for start in starts for side in _sides(_behind(start, line, given)))
    across = [node.value for axis, node in sides if axis == 1]
    made = [value for node in across for value in _behind(node, line, given)]
    aranges = (
        n for value in made for n in ast.walk(value) if isinstance(n, ast.Call) and last(n.func) == "arange"
    )
    names = {n.id for call in aranges for n in ast.walk(call) if isinstance(n, ast.Name)} & constants
    return min(names) if len(names) == 1 else ""


def _around(source: str, line: int) -> tuple[list[Part], list[tuple[str, ast.Call]]]:
    """What is set in the function around a line, and the accesses on it."""
    around = [f for f in functions(ast.parse(source)) if f.lineno <= line <= (f.end_lineno or 0)]
    return ([*assignments(around[-1])], accesses(source, line)) if around else ([], [])


def _behind(value: ast.expr, line: int, given: list[Part]) -> list[ast.expr]:
    """An expression, and all that its names are set to."""
    return [part.value for part in parts_of(Part(line, set(), value, False), given)]


def _sides(values: Iterable[ast.expr]) -> Iterator[tuple[int, ast.Subscript]]:
    """Each `offs[:, None]` in them, with the axis along which it goes."""
    for node in (node for value in values for node in ast.walk(value)):
        index = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Subscript) and isinstance(index, ast.Tuple) and len(index.elts) == 2:
            along = [axis for axis, one in enumerate(index.elts) if isinstance(one, ast.Slice)]
            if len(along) == 1:
                yield along[0], node


def _wraps(node: ast.Subscript) -> bool:
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in ast.walk(node))


def _name(node: ast.expr) -> str:
    """`offs_m` of offs_m[:, None], offs_m.to(tl.int64) and itself."""
    while isinstance(node, ast.Subscript | ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""

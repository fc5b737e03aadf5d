"""Sums and intermediate results that a source keeps in the inputs' dtype, or in 16 bits by name."""

from __future__ import annotations

import ast
from collections.abc import Collection

from grader.judge.diagnosis.addresses import addresses
from grader.judge.diagnosis.site import functions, jitted, last, parameters
from grader.judge.diagnosis.source import keyword

ALLOCATED = {"empty", "zeros", "full", "empty_like", "zeros_like", "full_like", "new_empty", "new_zeros"}
ZEROS = {"zeros", "zeros_like", "new_zeros"}
SUMS = {"zeros", "full"}


def kept_low(source: str) -> dict[str, str]:
    """Variables that are kept low, each with its dtype as it is written.

    In a kernel that is a block that more is added to; outside of one a tensor that is not returned, or that
    atomics may add to, told where no block is: what one kernel leaves for the next may well have 16 bits.
    """
    found, atomics = _rounded_in_loops(source), "atomic_add" in source
    if found:
        return found
    for function in functions(ast.parse(source)):
        kernel = jitted(function)
        left = _added_to(function) if kernel else _own(function)
        given = {*parameters(function), *_saved(function)}
        for node in ast.walk(function):
            if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
                continue
            target, dtype = node.targets[0], _low(node.value, SUMS if kernel else ALLOCATED)
            whose = dtype.partition(".")[0]
            summed = not kernel and atomics and last(node.value.func) in ZEROS
            if (
                isinstance(target, ast.Name)
                and (target.id in left or summed)
                and whose in (*given, "torch", "tl")
            ):
                found.setdefault(target.id, dtype)
    return found


def narrowed(source: str, wide: Collection[str] = ()) -> set[int]:
    """The lines on which kernels cast to 16 bits what they go on computing with, or compute with what they
    loaded before it is cast.

    Args:
        wide: pointers of tensors that have no 16-bit floats.
    """
    tree, lines = ast.parse(source), set[int]()
    products, places = for_products(tree), set[str]().union(*(one.names for one in addresses(tree)))
    for kernel in filter(jitted, functions(tree)):
        nodes, given = [*ast.walk(kernel)], parameters(kernel).keys() - places
        stored = _behind_stores(nodes)
        casts = (n for n in nodes if isinstance(n, ast.Call) and id(n) not in stored | products and _cast(n))
        lines |= {n.lineno for n in casts}
        loaded = {last(n.targets[0]) for n in nodes if isinstance(n, ast.Assign) and _loads(n.value, wide)}
        loaded -= places  # an index that was loaded is no number that rounds
        sums = (n for n in nodes if isinstance(n, ast.BinOp | ast.AugAssign))
        for one in (n for n in sums if not isinstance(n.op, ast.FloorDiv | ast.Mod)):
            sides = [one.left, one.right] if isinstance(one, ast.BinOp) else [one.target, one.value]
            raw = [_loads(side, wide) or last(side) in loaded for side in sides]
            plain = [isinstance(side, ast.Constant) or last(side) in given for side in sides]
            if any(raw) and all(a or b for a, b in zip(raw, plain, strict=True)):
                lines.add(one.lineno)
    return lines


def _loads(value: ast.expr, wide: Collection[str]) -> bool:
    if not (isinstance(value, ast.Call) and last(value.func) == "load"):
        return False
    return not any(isinstance(n, ast.Name) and n.id in wide for n in ast.walk(value))


def _behind_stores(nodes: list[ast.AST]) -> set[int]:
    """The id() of what stands in stores, and of what has a name that is read in stores alone."""
    stores = [n for n in nodes if isinstance(n, ast.Call) and last(n.func) in ("store", "atomic_add")]
    inside = {id(n) for call in stores for n in ast.walk(call)}
    for one in (n for n in nodes if isinstance(n, ast.Assign)):
        uses = [n for n in nodes if _reads(n, one)]
        if uses and all(id(n) in inside for n in uses):
            inside.add(id(one.value))
    return inside


def _saved(function: ast.FunctionDef) -> set[str]:
    """The names of what a backward() finds in ctx.saved_tensors."""
    found = (n for n in ast.walk(function) if isinstance(n, ast.Assign))
    saved = (n for n in found if isinstance(n.value, ast.Attribute) and n.value.attr == "saved_tensors")
    return {n.id for one in saved for n in ast.walk(one.targets[0]) if isinstance(n, ast.Name)}


def _rounded_in_loops(source: str) -> dict[str, str]:
    """Blocks that a kernel's loop carries on and rounds in each turn: `acc = (acc + …).to(v.dtype)`."""
    found: dict[str, str] = {}
    for kernel in filter(jitted, functions(ast.parse(source))):
        loops = [node for node in ast.walk(kernel) if isinstance(node, ast.For | ast.While)]
        for node in (node for loop in loops for node in ast.walk(loop)):
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                continue
            target, dtype = node.targets[0].id, _cast(node.value)
            carried = any(isinstance(n, ast.Name) and n.id == target for n in ast.walk(node.value))
            if dtype and carried and not _set_before(target, node, loops):
                found.setdefault(target, dtype)
    return found


def sums_in_half(source: str) -> bool:
    """Whether a kernel, or a function that one calls, rounds what it adds to itself to fp16 by name."""
    for node in (n for f in functions(ast.parse(source)) if jitted(f) for n in ast.walk(f)):
        if isinstance(node, ast.Assign) and _cast(node.value).endswith("float16"):
            inside = [*ast.walk(node.value)]
            carried = any(isinstance(n, ast.Name) and n.id == last(node.targets[0]) for n in inside)
            added = any(isinstance(n, ast.Add) or getattr(n, "attr", "") == "dot" for n in inside)
            if carried and added and "bfloat16" not in ast.unparse(node.value):
                return True
    return False


def _set_before(name: str, node: ast.Assign, loops: list[ast.For | ast.While]) -> bool:
    """Whether a turn of the loop sets it anew before this: then nothing is carried on."""
    around = [loop for loop in loops if loop.lineno < node.lineno <= (loop.end_lineno or 0)]
    stores = (n for loop in around[-1:] for n in ast.walk(loop) if isinstance(n, ast.Assign))
    earlier = (n for n in stores if n.lineno < node.lineno and last(n.targets[0]) == name)
    return any(name not in {m.id for m in ast.walk(n.value) if isinstance(m, ast.Name)} for n in earlier)


def _cast(value: ast.expr) -> str:
    """The dtype of few bits that a value is cast to at last, whatever it is cast to behind that."""
    dtype = ""
    while not dtype and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr != "to" or not value.args:
            break
        dtype, value = _spelled(value.args[0]), value.func.value
    return dtype


def for_products(tree: ast.AST) -> set[int]:
    """The id() of casts to another tensor's dtype that only a tl.dot sees: 16 bits by 16 are its task."""
    found = set[int]()
    for function in functions(tree):
        nodes = [*ast.walk(function)]
        dots = [n for n in nodes if isinstance(n, ast.Call) and last(n.func) == "dot"]
        inside = {id(n) for call in dots for given in call.args[:2] for n in ast.walk(given)}
        for cast in (n for n in nodes if isinstance(n, ast.Call) and n.args and _of_another(n.args[0])):
            named = [n for n in nodes if isinstance(n, ast.Assign) and n.value is cast]
            uses = [n for one in named for n in nodes if _reads(n, one)]
            if last(cast.func) == "to" and (
                id(cast) in inside or (uses and all(id(n) in inside for n in uses))
            ):
                found.add(id(cast))
    return found


def _reads(node: ast.AST, one: ast.Assign) -> bool:
    """Whether it is the name that is set there, behind it."""
    read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno > one.lineno
    return read and isinstance(node, ast.Name) and node.id == last(one.targets[0])


def _added_to(kernel: ast.FunctionDef) -> set[str]:
    """Names that are given a value more than once: `acc += …`, `acc = acc * alpha + …`."""
    names = [n.id for n in ast.walk(kernel) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return {name for name in names if names.count(name) > 1}


def _own(function: ast.FunctionDef) -> set[str]:
    """Names that no return mentions."""
    nodes = list(ast.walk(function))
    returned = {
        n.id for r in nodes if isinstance(r, ast.Return) for n in ast.walk(r) if isinstance(n, ast.Name)
    }
    return {n.id for n in nodes if isinstance(n, ast.Name)} - returned


def _low(call: ast.Call, names: set[str]) -> str:
    """The dtype that a tensor is made with, as it is written, where it may be of 16 bits."""
    made = last(call.func)
    if made not in names:
        return ""
    given = keyword(call, "dtype") or next((a for a in call.args if "float" in ast.unparse(a)), None)
    if given is None:
        like = made.endswith("_like") and call.args
        if made.startswith("new_") and isinstance(call.func, ast.Attribute):
            return f"{ast.unparse(call.func.value)}.dtype"
        given = next((a for a in call.args[1:] if _of_another(a)), None)
        return f"{ast.unparse(call.args[0])}.dtype" if like and given is None else _spelled(given)
    return _spelled(given)


def _of_another(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("dtype", "element_ty")


def _spelled(node: ast.expr | None) -> str:
    if node is None:
        return ""
    return ast.unparse(node) if _of_another(node) or last(node) in ("float16", "bfloat16") else ""

"""Finders for kernels: each answers None outside of one. A Finder is site.py's."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis.site import (
    Finder,
    Found,
    Scene,
    Site,
    assigned,
    functions,
    last,
    parameters,
    quoted,
)


def anything(scene: Scene, _: re.Match[str]) -> Found | None:
    """Whatever stands there."""
    return {} if scene.here.in_kernel else None


def begun(scene: Scene, match: re.Match[str]) -> Found | None:
    """The last line before this one that sets what the exception names."""
    inside = [*ast.walk(scene.here.function)] if scene.here.in_kernel and scene.here.function else []
    sets = (n.lineno for n in inside if isinstance(n, ast.Assign) and match["name"] in assigned(n))
    before = [line for line in sets if line < scene.here.line]
    return {"at": f" on line {max(before)}" if before else ""} if inside else None


def call(*names: str) -> Finder:
    """The one call of such a word of tl, with its first two arguments."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        calls = scene.here.calls(*names) if scene.here.in_kernel else []
        if len({ast.unparse(found) for found in calls}) != 1:
            return None
        first, second = [*map(quoted, calls[0].args), "…", "…"][:2]
        return {"call": quoted(calls[0]), "word": last(calls[0].func), "first": first, "second": second}

    return find


def two_by_place(scene: Scene, match: re.Match[str]) -> Found | None:
    """tl.load with more than a pointer before its keywords."""
    found = call("load")(scene, match)
    return found if found and found["second"] != "…" else None


def lacking(scene: Scene, match: re.Match[str]) -> Found | None:
    """The one call of the function that the exception names."""
    return call(match["function"])(scene, match)


def node(*kinds: type[ast.AST]) -> Finder:
    """A piece of syntax."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        found = [n for n in scene.here.nodes if isinstance(n, kinds)] if scene.here.in_kernel else []
        return {"text": quoted(found[0])} if found else None

    return find


def walked(scene: Scene, _: re.Match[str]) -> Found | None:
    """`for v in x`: over no call of range."""
    loops = [n for n in scene.here.nodes if isinstance(n, ast.For) and not isinstance(n.iter, ast.Call)]
    return {"text": quoted(loops[0].iter)} if loops and scene.here.in_kernel else None


def _pointers(here: Site) -> set[str]:
    """Parameters that are called pointers."""
    named = {name for name, constant in here.parameters.items() if "ptr" in name and not constant}
    return named if here.in_kernel else set()


def joined_last(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x_ptr + offs & 15`: what stands on both sides of & is added up first."""
    signs = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}
    for node in scene.here.nodes if scene.here.in_kernel else []:
        if not isinstance(node, ast.BinOp) or type(node.op) not in signs:
            continue
        left, sign = node.left, signs[type(node.op)]
        first = left
        while isinstance(first, ast.BinOp):
            first = first.left
        if (
            isinstance(left, ast.BinOp)
            and isinstance(left.op, ast.Add)
            and last(first) in scene.here.parameters
        ):
            right = quoted(node.right)
            right = f"({right})" if isinstance(node.right, ast.BinOp) else right
            return {"sign": sign, "text": f"{quoted(left.right)} {sign} {right}"}
    return None


def converted(given: bool) -> Finder:
    """The one name whose .to() is called; `given`: it is a parameter that need be no constant."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        calls = {ast.unparse(call): call for call in scene.here.calls("to") if scene.here.in_kernel}
        (call,) = calls.values() if len(calls) == 1 else (None,)
        if call is None or len(call.args) != 1 or not isinstance(call.func, ast.Attribute):
            return None
        name = last(call.func.value)
        fits = isinstance(call.func.value, ast.Name) and given is (scene.here.parameters.get(name) is False)
        return {"name": name, "dtype": quoted(call.args[0])} if fits else None

    return find


def converted_sum(scene: Scene, _: re.Match[str]) -> Found | None:
    """The one expression whose .to() is called, of a parameter that need be no constant: `(n + 1).to(…)`."""
    calls = {ast.unparse(call): call for call in scene.here.calls("to") if scene.here.in_kernel}
    (call,) = calls.values() if len(calls) == 1 else (None,)
    if call is None or len(call.args) != 1 or not isinstance(call.func, ast.Attribute):
        return None
    names = [n.id for n in ast.walk(call.func.value) if isinstance(n, ast.Name)]
    given = [name for name in names if scene.here.parameters.get(name) is False]
    text = quoted(call.func.value)
    return {"text": text, "name": given[0], "dtype": quoted(call.args[0])} if given else None


def hinted(scene: Scene, _: re.Match[str]) -> Found | None:
    """`tl.multiple_of(stride, 16)` of a parameter."""
    calls = [*scene.here.calls("multiple_of"), *scene.here.calls("max_contiguous")]
    (call,) = calls if len(calls) == 1 else (None,)
    name = last(call.args[0]) if call is not None and call.args else ""
    given = scene.here.in_kernel and scene.here.parameters.get(name) is False
    return {"name": name, "call": f"tl.{last(call.func)}"} if call is not None and given else None


def pointer_index(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x_ptr[offs]`."""
    pointers = _pointers(scene.here)
    found = [n for n in scene.here.nodes if isinstance(n, ast.Subscript) and last(n.value) in pointers]
    if not found:
        return None
    pointer, at = quoted(found[0].value), quoted(found[0].slice)
    address = f"{pointer} + {at}" if at.isidentifier() or at.isdigit() else f"{pointer} + offsets"
    return {"text": quoted(found[0]), "address": address, "pointer": pointer}


def pointer_attribute(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x_ptr.shape`, `x_ptr.numel()`."""
    pointers, words = _pointers(scene.here), ("shape", "numel", "size", "stride", "dim")
    nodes = [n for n in scene.here.nodes if isinstance(n, ast.Attribute) and last(n.value) in pointers]
    found = [n for n in nodes if n.attr in words]
    return {"pointer": last(found[0].value), "name": found[0].attr} if found else None


def index(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x[0]`, `x[0:4]`, `x[i]`: more than axes, as in [:, None], are asked for."""
    found = [n for n in scene.here.nodes if isinstance(n, ast.Subscript) and not _axes(n.slice)]
    return {"text": quoted(found[0])} if found and scene.here.in_kernel else None


def _axes(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(ast.unparse(part) in (":", "None") for part in parts)


def not_constant(scene: Scene, _: re.Match[str]) -> Found | None:
    """The first end of a tl.arange that is no constant integer."""
    calls, known = scene.here.calls("arange"), scene.here.parameters
    ends = [*calls[0].args, *(given.value for given in calls[0].keywords)] if len(calls) == 1 else []
    for end in ends if scene.here.in_kernel else []:
        names = {n.id for n in ast.walk(end) if isinstance(n, ast.Name)}
        if isinstance(end, ast.Name) and known.get(end.id) is False:
            advice = (
                f"If {end.id} is a block size, declare it tl.constexpr. If it is the length of the data, "
            )
            return {"end": end.id, "advice": advice + "take a block size, and mask the lanes past the end."}
        if names and not all(known.get(name) for name in names):
            return {"end": quoted(end), "advice": "What differs from program to program is added: "
                    "pid * BLOCK + tl.arange(0, BLOCK)."}  # fmt: skip
    floats = [end for end in ends if not (isinstance(end, ast.Constant) and type(end.value) is int)]
    advice = "In Python / gives a float, and // an integer."
    return {"end": quoted(floats[0]), "advice": advice} if len(floats) == 1 and scene.here.in_kernel else None


def unset(scene: Scene, match: re.Match[str]) -> Found | None:
    """A name that the kernel gives a value, but not before this line."""
    here, name = scene.here, match["name"]
    if not here.function or not here.in_kernel or name not in assigned(here.function):
        return None
    if f"{name}_ptr" in here.parameters:
        return {"advice": f"Is {name}_ptr meant?"}
    if any(isinstance(n, ast.AugAssign) for n in here.nodes):
        return {"advice": "A sum that a loop adds to starts before the loop, as a rule with tl.zeros."}
    return {"advice": "It needs one on every way that leads here."}


def unread(scene: Scene, match: re.Match[str]) -> Found | None:
    """A name without a value in the kernel, which has a pointer of that name."""
    here, name = scene.here, match["name"]
    pointer = f"{name}_ptr"
    if not here.in_kernel or not here.function or pointer not in here.parameters:
        return None
    if name in assigned(here.function):
        return None
    first = [call.args[0] for call in here.calls("load", "store", "atomic_add") if call.args]
    if any(isinstance(n, ast.Name) and n.id == name for address in first for n in ast.walk(address)):
        return {"kernel": here.function.name, "advice": f"Is {pointer} meant?"}
    reads = f"tl.load({pointer} + offsets) reads what lies where {pointer} points."
    return {"kernel": here.function.name, "advice": reads}


def elsewhere(scene: Scene, match: re.Match[str]) -> Found | None:
    """A name that the kernel does not know, and that another function of the file does."""
    here, name = scene.here, match["name"]
    others = [o for o in functions(here.tree) if o is not here.function]
    owner = next((o for o in others if name in assigned(o) or name in parameters(o)), None)
    if not here.in_kernel or not here.function or owner is None or name in assigned(here.function):
        return None
    return {"owner": owner.name, "kernel": here.function.name}


def stored_pointer(scene: Scene, _: re.Match[str]) -> Found | None:
    """A tl.store whose value is a pointer."""
    pointers = _pointers(scene.here)
    for made in scene.here.calls("store", "atomic_add"):
        names = (
            {n.id for n in ast.walk(made.args[1]) if isinstance(n, ast.Name)} if len(made.args) > 1 else set()
        )
        if names & pointers and not any(isinstance(n, ast.Call) for n in ast.walk(made.args[1])):
            return {"word": last(made.func), "second": quoted(made.args[1])}
    return None


def bitwise_comparison(scene: Scene, _: re.Match[str]) -> Found | None:
    """`a < m & b < n`: & binds tighter than <."""
    for n in scene.here.nodes:
        for part in n.comparators if isinstance(n, ast.Compare) and len(n.ops) > 1 else []:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr):
                return {"sign": "&" if isinstance(part.op, ast.BitAnd) else "|"}
    return None

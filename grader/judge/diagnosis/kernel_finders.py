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
    function,
    functions,
    in_kernels,
    jitted,
    last,
    parameters,
    quoted,
    root,
    site,
)

LIBRARIES = ("torch", "np", "numpy", "math")
DTYPES = ("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8")
PYTHONS = ("sum", "abs", "round", "float", "int", "list", "tuple", "sorted", "enumerate", "zip", "any", "all", "pow")


def anything(scene: Scene, _: re.Match[str]) -> Found | None:
    """Whatever stands there."""
    return {} if scene.here.in_kernel else None


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


def named(scene: Scene, match: re.Match[str]) -> Found | None:
    """The attribute that the exception names: `x.mean`, `tl.tanh`, `triton.load`."""
    here = scene.here
    if not here.in_kernel:  # the compiler knows the launch alone of what a kernel takes of another module
        nodes = [n for n in in_kernels(here.tree) if isinstance(n, ast.Attribute) and n.attr == match["name"]]
        here = site(here.tree, nodes[0].lineno) if nodes else here
    found = [n for n in here.nodes if isinstance(n, ast.Attribute) and n.attr == match["name"]]
    if not found or not here.in_kernel:
        return None
    return {"text": quoted(found[0]), "owner": root(found[0]), "name": match["name"], "line": here.line}


def library(scene: Scene, match: re.Match[str]) -> Found | None:
    """A function of torch, NumPy or math; the compiler's words name it, and not its line."""
    name = match.groupdict().get("name")
    nodes = scene.here.nodes if scene.here.in_kernel else in_kernels(scene.here.tree) if name else ()
    calls = [n for n in nodes if isinstance(n, ast.Call) and root(n.func) in LIBRARIES]
    found = next((c for c in calls if name in (None, last(c.func))), None)
    if found is None:
        return None
    return {"text": ast.unparse(found.func), "name": last(found.func), "line": found.lineno}


def plain_helper(scene: Scene, match: re.Match[str]) -> Found | None:
    """A function of the file, without @triton.jit, that a kernel calls."""
    helper = function(scene.here.tree, match["name"])
    return {"name": helper.name, "line": helper.lineno} if helper and not jitted(helper) else None


def of_triton(scene: Scene, _: re.Match[str]) -> Found | None:
    """`triton.cdiv(…)`."""
    calls = scene.here.calls() if scene.here.in_kernel else []
    found = [c for c in calls if ast.unparse(c.func) == f"triton.{last(c.func)}"]
    return {"name": last(found[0].func)} if found else None


def _pointers(here: Site) -> set[str]:
    """Parameters that are called pointers."""
    named = {name for name, constant in here.parameters.items() if "ptr" in name and not constant}
    return named if here.in_kernel else set()


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
            advice = f"If {end.id} is a block size, declare {end.id}: tl.constexpr. If it is the length of the data, "
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
        names = {n.id for n in ast.walk(made.args[1]) if isinstance(n, ast.Name)} if len(made.args) > 1 else set()
        if names & pointers and not any(isinstance(n, ast.Call) for n in ast.walk(made.args[1])):
            return {"word": last(made.func), "second": quoted(made.args[1])}
    return None


def foreign_dtype(scene: Scene, _: re.Match[str]) -> Found | None:
    """`torch.float32`, `"float32"`."""
    for n in scene.here.nodes if scene.here.in_kernel else []:
        if isinstance(n, ast.Attribute) and root(n) in LIBRARIES and n.attr in DTYPES:
            return {"text": ast.unparse(n), "instead": f"tl.{n.attr}"}
        if isinstance(n, ast.Constant) and n.value in DTYPES:
            return {"text": ast.unparse(n), "instead": f"tl.{n.value}"}
    return None


def keyword_given(scene: Scene, match: re.Match[str]) -> Found | None:
    """The call that is given the keyword that the exception names."""
    calls = scene.here.calls() if scene.here.in_kernel else []
    found = [c for c in calls if match["name"] in [keyword.arg for keyword in c.keywords]]
    return {"text": ast.unparse(found[0].func), "name": match["name"], "owner": "="} if found else None


def python_word(scene: Scene, match: re.Match[str]) -> Found | None:
    """`sum(x)`, `abs(x)`: Python's own."""
    name = match.groupdict().get("name")
    calls = [c for c in scene.here.calls(*PYTHONS) if isinstance(c.func, ast.Name)] if scene.here.in_kernel else []
    found = [c for c in calls if name in (None, last(c.func)) and not function(scene.here.tree, last(c.func))]
    return {"text": f"{last(found[0].func)}()", "name": last(found[0].func), "owner": "python"} if found else None


def not_called(scene: Scene, _: re.Match[str]) -> Found | None:
    """`tl.program_id` without its parentheses, anywhere in the kernel."""
    tree = scene.here.function if scene.here.in_kernel else None
    nodes = [*ast.walk(tree)] if tree else []
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    bare = [n for n in nodes if isinstance(n, ast.Attribute) and id(n) not in called]
    found = [n for n in bare if n.attr in ("program_id", "num_programs")]
    return {"text": ast.unparse(found[0]), "line": found[0].lineno} if found else None


def bitwise_comparison(scene: Scene, _: re.Match[str]) -> Found | None:
    """`a < m & b < n`: & binds tighter than <."""
    for n in scene.here.nodes:
        for part in n.comparators if isinstance(n, ast.Compare) and len(n.ops) > 1 else []:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr):
                return {"sign": "&" if isinstance(part.op, ast.BitAnd) else "|"}
    return None

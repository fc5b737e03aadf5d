"""Finders for what is torch's, NumPy's or Python's in a kernel. A Finder is site.py's."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis.site import Found, Scene, function, in_kernels, jitted, last, quoted, root, site

LIBRARIES = ("torch", "np", "numpy", "math")
DTYPES = ("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8")
PYTHONS = (
    "sum",
    "abs",
    "round",
    "float",
    "int",
    "list",
    "tuple",
    "sorted",
    "enumerate",
    "zip",
    "any",
    "all",
    "pow",
)


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


def library_here(scene: Scene, _: re.Match[str]) -> Found | None:
    """A function of torch, NumPy or math on the line itself, whatever the exception names."""
    calls = scene.here.calls() if scene.here.in_kernel else []
    found = next((c for c in calls if root(c.func) in LIBRARIES), None)
    return {"text": ast.unparse(found.func), "name": last(found.func)} if found else None


def plain_helper(scene: Scene, match: re.Match[str]) -> Found | None:
    """A function of the file, without @triton.jit, that a kernel calls."""
    helper = function(scene.here.tree, match["name"])
    return {"name": helper.name, "line": helper.lineno} if helper and not jitted(helper) else None


def of_triton(scene: Scene, _: re.Match[str]) -> Found | None:
    """`triton.cdiv(…)`."""
    calls = scene.here.calls() if scene.here.in_kernel else []
    found = [c for c in calls if ast.unparse(c.func) == f"triton.{last(c.func)}"]
    return {"name": last(found[0].func)} if found else None


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
    calls = (
        [c for c in scene.here.calls(*PYTHONS) if isinstance(c.func, ast.Name)]
        if scene.here.in_kernel
        else []
    )
    found = [c for c in calls if name in (None, last(c.func)) and not function(scene.here.tree, last(c.func))]
    return (
        {"text": f"{last(found[0].func)}()", "name": last(found[0].func), "owner": "python"}
        if found
        else None
    )


def not_called(scene: Scene, _: re.Match[str]) -> Found | None:
    """`tl.program_id` without its parentheses, anywhere in the kernel."""
    tree = scene.here.function if scene.here.in_kernel else None
    nodes = [*ast.walk(tree)] if tree else []
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    bare = [n for n in nodes if isinstance(n, ast.Attribute) and id(n) not in called]
    found = [n for n in bare if n.attr in ("program_id", "num_programs")]
    return {"text": ast.unparse(found[0]), "line": found[0].lineno} if found else None

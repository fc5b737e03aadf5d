"""Finders for launchers: grids, arguments that do not fit, kernels that are none. A Finder is site.py's."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis.site import Finder, Found, Scene, Site, function, jitted, last, parameters, root

OPTIONS = {"num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "launch_pdl", "debug"}
TUPLE = r"\w+\.(stride\(\)|shape|size\(\))"  # one number for each axis
METHODS = {"stride": "(0)", "size": "(0)", "numel": "()", "dim": "()", "data_ptr": "()", "element_size": "()"}


def launch(scene: Scene, match: re.Match[str]) -> Found | None:
    """The launch itself raised; where the words name a function, it is the kernel."""
    made = scene.here.launch
    if made is None or scene.here.in_kernel or scene.here.calls("len", "range"):
        return None
    kernel = _kernel(scene.here)
    names = list(parameters(kernel)) if kernel else []
    if match.groupdict().get("function", "dynamic_func") not in ("dynamic_func", kernel and kernel.name):
        return None
    given = [keyword.arg for keyword in made.keywords if keyword.arg and keyword.arg not in OPTIONS]
    unknown = next((name for name in given if names and name not in names), None)
    whole = handed(TUPLE)(scene, match)
    also = f"; it has no {unknown}" if unknown else ""
    also += f", and {whole['text']} is one argument, a tuple" if whole else ""
    called = kernel.name if kernel else "the kernel"
    return {"kernel": called, "names": ", ".join(names) or "not in this file", "also": also}


def asks_for_gpu(scene: Scene, _: re.Match[str]) -> Found | None:
    """`cuda` outside of every kernel: a function of torch.cuda, x.cuda() or the name of a device."""
    return {} if not scene.here.in_kernel and _says_cuda(scene.here) else None


def asserts_gpu(scene: Scene, _: re.Match[str]) -> Found | None:
    """`assert x.is_cuda`, or that a device is `cuda`, and nothing else: so it is where a GPU is pretended."""
    asserts = [node for node in scene.here.nodes if isinstance(node, ast.Assert)]
    alone = asserts and not any(isinstance(node, ast.BoolOp) for node in ast.walk(asserts[0].test))
    return {} if alone and not scene.here.in_kernel and _says_cuda(scene.here) else None


def _says_cuda(place: Site) -> bool:
    named = any(isinstance(n, ast.Attribute) and n.attr in ("cuda", "is_cuda") for n in place.nodes)
    return named or any(isinstance(n, ast.Constant) and str(n.value).startswith("cuda") for n in place.nodes)


def _kernel(place: Site) -> ast.FunctionDef | None:
    """The function that the line launches."""
    func = place.launch.func if place.launch else None
    return function(place.tree, last(func.value)) if isinstance(func, ast.Subscript) else None


def called_kernel(scene: Scene, _: re.Match[str]) -> Found | None:
    """`kernel(…)` outside of every kernel, without a grid."""
    around = [scene.here, *scene.callers]
    inner = max((i for i, place in enumerate(around) if place.in_kernel or place.launch), default=-1)
    for place in around[inner + 1 :]:
        for call in place.calls():
            kernel = function(place.tree, call.func.id) if isinstance(call.func, ast.Name) else None
            if kernel and jitted(kernel):
                return {"kernel": kernel.name, "line": place.line}
    return None


def plain_function(scene: Scene, _: re.Match[str]) -> Found | None:
    """`name[grid](…)` where the file's function `name` has no @triton.jit."""
    kernel = _kernel(scene.here)
    return {"name": kernel.name, "line": kernel.lineno} if kernel and not jitted(kernel) else None


def decorated(scene: Scene, _: re.Match[str]) -> Found | None:
    """A decorator above a function that has no @triton.jit."""
    around = scene.here.function
    return {"name": around.name} if around and around.decorator_list and not jitted(around) else None


def of_kernels(scene: Scene, _: re.Match[str]) -> Found | None:
    """`tl.cdiv(…)` or the like outside of every kernel."""
    calls = [] if scene.here.in_kernel else [c for c in scene.here.calls() if root(c.func) == "tl"]
    if not calls:
        return None
    name = last(calls[0].func)
    alike = f": a launcher writes triton.{name}" if name in ("cdiv", "next_power_of_2") else ""
    return {"name": name, "alike": alike}


def of_meta(scene: Scene, match: re.Match[str]) -> Found | None:
    """`meta["BLOCK_SIZE"]` in a grid that is a function."""
    keys = [n for n in scene.here.nodes if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant)]
    inside = any(isinstance(node, ast.Lambda) for node in scene.here.nodes)
    fits = inside and any(
        key.slice.value == match["name"] for key in keys if isinstance(key.slice, ast.Constant)
    )
    kernel = _kernel(scene.launch) if scene.launch else None
    return {"names": ", ".join(parameters(kernel)), "kernel": kernel.name} if fits and kernel else None


def returns(scene: Scene, _: re.Match[str]) -> Found | None:
    """The launched kernel returns a value."""
    kernel = _kernel(scene.here)
    found = [n for n in ast.walk(kernel) if isinstance(n, ast.Return) and n.value] if kernel else []
    return {"line": found[0].lineno} if found else None


def handed(text: str) -> Finder:
    """The launch is given an argument that reads like this: `x.data_ptr()`."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        place = scene.launch
        for parameter, one in _arguments(place) if place else ():
            if place and re.fullmatch(text, one):
                tensor, name = one.split(".", 1)
                each = f"{one}[0]" if name == "shape" else f"{tensor}.{name.rstrip('()')}(0)"
                call = f"{one}{METHODS.get(name, '()')}"
                facts = {"text": one, "tensor": tensor, "each": each, "call": call}
                return facts | {"parameter": parameter, "line": place.line}
        return None

    return find


def used(text: str) -> Finder:
    """The same, where the line that raised is the launch, or uses the kernel's parameter."""

    def find(scene: Scene, match: re.Match[str]) -> Found | None:
        found, here = handed(text)(scene, match), scene.here
        names = {node.id for node in here.nodes if isinstance(node, ast.Name)}
        return found if found and (found["parameter"] in names or found["line"] == here.line) else None

    return find


def _arguments(place: Site) -> list[tuple[str, str]]:
    """The launch's arguments, each by the kernel's name for it."""
    kernel, made = _kernel(place), place.launch
    names = [*(parameters(kernel) if kernel else {})]
    given = [*zip(names, made.args, strict=False)] if made else []
    named = [(keyword.arg or "", keyword.value) for keyword in made.keywords] if made else []
    return [(name, ast.unparse(value)) for name, value in [*given, *named]]


def uncalled(scene: Scene, _: re.Match[str]) -> Found | None:
    """A launcher uses a variable that was set to a method: `n = x.numel`."""
    here = scene.here
    used = {node.id for node in here.nodes if isinstance(node, ast.Name)}
    for node in ast.walk(here.function) if here.function and not here.in_kernel else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if node.value.attr in METHODS and targets & used:
                text = ast.unparse(node.value)
                return {"text": text, "call": text + METHODS[node.value.attr], "line": node.lineno}
    return None


def divided(scene: Scene, _: re.Match[str]) -> Found | None:
    """The one division on a line: by triton.cdiv, / or //."""
    blocks = [c.args[1] for c in scene.here.calls("cdiv") if len(c.args) == 2]
    kinds = (ast.Div, ast.FloorDiv, ast.Mod)
    by = [n.right for n in scene.here.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, kinds)]
    if len(blocks) + len(by) != 1:
        return None
    name = ast.unparse([*blocks, *by][0])
    block = bool(blocks) and "block" in name.lower()
    return {"by": name, "also": " A block has at least one element, also where the input has none." * block}

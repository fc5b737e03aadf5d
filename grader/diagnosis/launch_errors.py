"""What exceptions of a launch mean: rows of words, of what must stand on the line, and of one sentence."""

from __future__ import annotations

import ast
import re

from grader.diagnosis.source_context import Finder, Found, Scene, Site, function, jitted, last, returns


def outside(scene: Scene, _: re.Match[str]) -> Found | None:
    """Any line outside of kernels."""
    return None if scene.here.in_kernel else {}


def launch(scene: Scene, _: re.Match[str]) -> Found | None:
    """The launch itself raised."""
    if scene.here.launch is None or scene.here.in_kernel or scene.here.calls("len", "range"):
        return None
    kernel = _kernel(scene.here)
    return {"kernel": kernel.name if kernel else "the kernel"}


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


def returning(scene: Scene, _: re.Match[str]) -> Found | None:
    """The launched kernel returns a value."""
    kernel = _kernel(scene.here)
    found = returns(kernel) if kernel else []
    return {"line": found[0].lineno} if found else None


def _kernel(place: Site) -> ast.FunctionDef | None:
    """The function that the line launches."""
    func = place.launch.func if place.launch else None
    return function(place.tree, last(func.value)) if isinstance(func, ast.Subscript) else None


LAUNCH: list[tuple[str, Finder, str]] = [
    (r"compiled (with CUDA enabled|without CUDA support)|Found no NVIDIA driver|No CUDA GPUs are available|"
     r"^AssertionError: `assert (?!.* (and|or) ).*cuda", outside,
     "This line asks for a GPU, and there is none. Kernels are evaluated then, on tensors of the CPU: "
     "x.device says where x lies, with a GPU and without."),
    (r"Pointer argument .* cannot be accessed from Triton", launch,
     "A tensor of this launch lies in the CPU's memory, and {kernel} runs on the GPU: "
     "torch.empty(…, device=x.device) makes one where x is."),
    ("", called_kernel,
     "{kernel} is called like a function, and a kernel needs a grid: {kernel}[grid](…)."),
    ("'function' object is not subscriptable", plain_function,
     "{name} is a plain Python function: @triton.jit above its def makes it a kernel that [grid] launches."),
    (r"object of type '(int|float|NoneType|numpy\.\w+)' has no len\(\)", launch,
     "The grid of {kernel} must be a tuple: with one axis it is (blocks,), with a comma."),
    (r"^TypeError: '(float|numpy\.float\d+)' object cannot be interpreted as an integer", launch,
     "The grid of {kernel} counts programs, and holds a float: triton.cdiv(n, BLOCK) gives an integer."),
    (r"failed to specialize argument of type: (?P<type>[\w.]+)", launch,
     "{kernel} takes tensors and plain numbers, and this launch gives it a {type}."),
    (r"Conflicting meta-parameters: (?P<names>[\w, ]+)", launch,
     "The autotuner's configs give {kernel} its {names}: leave that out of the launch."),
    ("PassManager::run failed", returning,
     "A kernel returns no value: what it computes leaves it by tl.store."),
]  # fmt: skip

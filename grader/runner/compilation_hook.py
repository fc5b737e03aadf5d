"""On a GPU: what Triton compiles for a call, told by its own hook.

survey {entry, arguments, upstream, of}  → Surveyed, a recipe for each compilation that was not made before
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any
from unittest import mock

import triton
from triton.runtime.jit import JITFunction

from grader.performance.compiler import recipe
from grader.performance.timing.autograd_passes import gradients
from grader.runner.answering import Reply
from grader.runner.backward import any_upstream
from grader.runner.tensors_on_the_wire import unpack_arguments
from grader.runner_measurements import Surveyed


class Compiling:
    """Tells what a loaded runner compiles."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner

    def survey(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Make one call, forward and backward, and write down what is compiled for it."""
        arguments = unpack_arguments(header["arguments"], blobs, "cuda")
        leaves = [arguments[position].requires_grad_() for position in header["of"]]
        with compilations() as recipes:
            result = getattr(self.runner.module, header["entry"])(*arguments)
            gradients(result, leaves, any_upstream(result)) if leaves else None
        return Surveyed(recipes), []


@contextlib.contextmanager
def compilations() -> Iterator[list[dict[str, Any]]]:
    """While the block runs, a recipe for each kernel that Triton compiles, growing."""
    recipes: list[dict[str, Any]] = []
    launched: list[Any] = []
    stock = JITFunction.run

    def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        launched.append((kernel, args, options))
        try:
            return stock(kernel, *args, grid=grid, warmup=warmup, **options)
        finally:
            launched.pop()

    def hook(**_: Any) -> None:
        recipes.append(_written(*launched[-1]))

    patched = mock.patch.object(triton.knobs.runtime, "jit_cache_hook", hook)
    with mock.patch.object(JITFunction, "run", run), patched:
        yield recipes


def _written(kernel: Any, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    known = inspect.signature(kernel.fn).parameters
    given = {name: value for name, value in options.items() if name in known}
    made = recipe.written(kernel.fn, inspect.getcallargs(kernel.fn, *args, **given), options)
    return {**recipe.specialised(kernel.fn, made, recipe.unspecialised(kernel)), "tuned": False}

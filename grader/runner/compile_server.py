"""The process that compiles the learner's kernels for a GPU that it does not see: never evaluated nor run.

load    {path, provided, mine, made, gpu, evaluated}, and the file's bytes → Loaded, of no functions
build   {recipe, gpu, code}                         → Built
accept  {recipe}                                    → Accepted
compile {recipe, order}                             → Accepted, and Triton's cache holds it
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import sys
from typing import Any

from triton.backends.nvidia.driver import CudaLauncher
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from grader.datasheets import Gpu
from grader.performance.compiler.assembly import disassembled, facts
from grader.performance.compiler.compile_probe import shared_memory
from grader.performance.compiler.fake_driver import Driver
from grader.performance.compiler.recipe import read
from grader.performance.counting.fake_gpu import pretended
from grader.runner import device_functions, loading, resource_limits
from grader.runner.command_loop import Reply, answering
from grader.runner_answers import Loaded
from grader.runner_measurements import Accepted, Built
from grader.wire import Channel


class Builder:
    """One learner's file, loaded to be compiled."""

    def __init__(self) -> None:
        self.path = ""
        self.functions: dict[str, list[Any]] = {}  # several where kernels are made by a function

    def load(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Import the file for its kernels."""
        self.path = header["path"]
        gpu = Gpu(**header["gpu"])
        driver.set_active(Driver(gpu))
        with contextlib.nullcontext() if header["evaluated"] else pretended(gpu):
            module = loading.load(self.path, bytes(blobs[0]), *loading.asked(header))
        earlier = [there for name, there in sys.modules.items() if name.startswith("mine.")]
        named = [value for there in (module, *earlier, device_functions) for value in vars(there).values()]
        for value in [*named, *_enclosed(vars(module))]:
            if kernel := _jitted(value):
                self.functions.setdefault(kernel.fn.__name__, []).append(kernel)
        return Loaded({}), []

    def build(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile one launch."""
        gpu = Gpu(**header["gpu"])
        driver.set_active(Driver(gpu))
        for kernel in self.functions.get(header["recipe"].get("kernel", ""), []):
            _told_by_line(kernel)
        built = self._compiled(header["recipe"])
        return Built(facts(built, gpu), _code(built, header["code"])), []

    def accept(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile one launch as far as it takes to know that it compiles."""
        return Accepted(shared_memory(lambda: self._compiled(header["recipe"]))), []

    def compile(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile one launch for whoever looks into Triton's cache, and what launches it.

        What the cache calls a kernel depends on those that were compiled before it (JITCallable.cache_key
        takes the globals of functions it calls as far as they are known by then): `order` names them.
        """
        for name in header["order"]:
            self._function(name).cache_key  # noqa: B018
        built = self._compiled(header["recipe"])
        with contextlib.suppress(Exception):  # before Triton 3.7 a C compiler makes it, once
            CudaLauncher(built.src, built.metadata)
        return Accepted(built.metadata.shared), []

    def _function(self, name: str) -> Any:
        """The learner's jitted function of a name.

        Raises:
            LookupError: there is none, or it cannot be told which.
        """
        found = self.functions.get(name, [])
        if not found or any(other is not found[0] for other in found):
            there = "several kernels" if found else "no kernel"
            raise LookupError(f"once it is imported the file has {there} named {name}")
        return found[0]

    def _compiled(self, recipe: dict[str, Any]) -> Any:
        kernel = self._function(recipe["kernel"])
        given = read(recipe, self._function)
        # A parameter of a kernel may be called as an option is: num_stages.
        built = kernel.warmup(**{**recipe["options"], **given}, grid=(1, 1, 1))
        return built.result() if hasattr(built, "result") else built


def _jitted(value: Any) -> Any:
    """The kernel inside of autotuners and heuristics; None when it is none."""
    for _ in range(8):
        if isinstance(value, JITFunction):
            return value
        value = getattr(value, "fn", None)
    return None


def _told_by_line(kernel: Any) -> None:
    """Have Triton's cache tell a kernel by how many lines it has, those of its decorators among them.

    The cache goes by the source from `def` on and by the line of the first decorator. So one whose list of
    configs has lost a line is found as it was, and its instructions name the lines of then.
    """
    mark = f"-{len(inspect.getsourcelines(kernel.fn)[0])}"
    if not kernel.cache_key.endswith(mark):
        kernel.hash = kernel.cache_key + mark


def _code(built: Any, wanted: str) -> str:
    if wanted == "sass":
        return disassembled(built.asm["cubin"])
    return str(built.asm[wanted]) if wanted else ""


def _enclosed(names: dict[str, Any]) -> list[Any]:
    """The kernels written in a file that its functions and classes hold, whichever way."""
    return [one for one in gc.get_objects() if isinstance(one, JITFunction) and one.fn.__globals__ is names]


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # there may be many: none takes memory of a GPU
    resource_limits.usual(on_cpu=True)
    builder = Builder()
    commands = {name: getattr(builder, name) for name in ("load", "build", "accept", "compile")}
    answering(channel, commands, lambda: builder.path)

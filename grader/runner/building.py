"""The process that compiles the learner's kernels for a GPU that is not there: never interpreted, never run.

load   {path, provided, gpu}, and the file's bytes → Loaded, of no functions
build  {recipe, gpu, machine, code}                → Built
accept {recipe}                                    → Accepted

It is forked from a parent without TRITON_INTERPRET: where that is set, Triton cannot compile.
"""

from __future__ import annotations

import os
from typing import Any

import triton
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from grader import datasheets
from grader.answers import Accepted, Built, Loaded
from grader.compiler.acceptance import shared_memory
from grader.compiler.assembly import disassembled, facts
from grader.compiler.driver import Driver
from grader.compiler.recipe import read
from grader.runner import loading
from grader.runner.answering import Reply, answering
from grader.wire import Channel


class Builder:
    """One learner's file, loaded to be compiled."""

    def __init__(self) -> None:
        self.path = ""
        self.functions: dict[str, list[Any]] = {}  # several where kernels are made by a function

    def load(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Import the file for its kernels."""
        self.path = header["path"]
        driver.set_active(Driver(datasheets.GPUS[header["gpu"]]))
        # A file that asks is to make the kernels that it makes where they are interpreted: those are graded.
        triton.knobs.runtime.interpret = False
        os.environ["TRITON_INTERPRET"] = "1"
        module = loading.load(self.path, bytes(blobs[0]), header["provided"])
        for value in vars(module).values():
            jitted = _jitted(value)
            if jitted is not None:
                self.functions.setdefault(jitted.fn.__name__, []).append(jitted)
        return Loaded({}), []

    def build(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile one launch."""
        gpu = datasheets.GPUS[header["gpu"]]
        driver.set_active(Driver(gpu))
        built = self._compiled(header["recipe"])
        return Built(facts(built, gpu, header["machine"]), _code(built, header["code"])), []

    def accept(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile one launch as far as it takes to know that it compiles."""
        return Accepted(shared_memory(lambda: self._compiled(header["recipe"]))), []

    def _function(self, name: str) -> Any:
        """The learner's jitted function of a name.

        Raises:
            KeyError: there is none, or it cannot be told which.
        """
        found = self.functions[name]
        if any(other is not found[0] for other in found):
            raise KeyError(f"which kernel {name} is")
        return found[0]

    def _compiled(self, recipe: dict[str, Any]) -> Any:
        kernel = self._function(recipe["kernel"])
        given = read(recipe, self._function)
        built = kernel.warmup(**given, grid=(1, 1, 1), **recipe["options"])
        return built.result() if hasattr(built, "result") else built


def _code(built: Any, wanted: str) -> str:
    if wanted == "sass":
        return disassembled(built.asm["cubin"])
    return str(built.asm[wanted]) if wanted else ""


def _jitted(value: Any) -> Any:
    """The kernel inside of autotuners and heuristics; None when it is none."""
    for _ in range(8):
        if isinstance(value, JITFunction):
            return value
        value = getattr(value, "fn", None)
        if value is None:
            return None
    return None


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    builder = Builder()
    commands: dict[str, Any] = {"load": builder.load, "build": builder.build, "accept": builder.accept}
    answering(channel, commands, lambda: builder.path)

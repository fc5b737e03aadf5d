"""The process that compiles the learner's kernels for a GPU that is not there: never interpreted, never run.

load   {path, provided, gpu}, and the file's bytes → Loaded, of no functions
build  {recipe, gpu, machine, code}                → Built

It is forked from a parent without TRITON_INTERPRET: where that is set, Triton cannot compile.
"""

from __future__ import annotations

from typing import Any

from triton.runtime import driver
from triton.runtime.jit import JITFunction

from grader import datasheets
from grader.answers import Built, Loaded
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
        self.functions: dict[str, Any] = {}

    def load(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Import the file for its kernels."""
        self.path = header["path"]
        driver.set_active(Driver(datasheets.GPUS[header["gpu"]]))
        module = loading.load(self.path, bytes(blobs[0]), header["provided"])
        for value in vars(module).values():
            jitted = _jitted(value)
            if jitted is not None:
                self.functions[jitted.fn.__name__] = jitted
        return Loaded({}), []

    def build(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile one launch."""
        gpu = datasheets.GPUS[header["gpu"]]
        driver.set_active(Driver(gpu))
        recipe = header["recipe"]
        kernel = self.functions[recipe["kernel"]]
        given = read(recipe, lambda name: self.functions[name])
        built = kernel.warmup(**given, grid=(1, 1, 1), **recipe["options"])
        built = built.result() if hasattr(built, "result") else built
        return Built(facts(built, gpu, header["machine"]), _code(built, header["code"])), []


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
    commands: dict[str, Any] = {"load": builder.load, "build": builder.build}
    answering(channel, commands, lambda: builder.path)

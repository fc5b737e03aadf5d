"""A scout: another process of the untrusted side that calls the learner's function where no kernel runs.

load   {path, provided, mine, made, gpu}, and the file's bytes         → Loaded, of no functions
survey {entry, probe, arguments, upstream, of, gpu, layout, configs}  → Surveyed

It holds no CUDA context: a GPU is pretended, with tensors that take no memory. Launchers choose their tiles
by the GPU: what they launch without one may never be compiled for it.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from unittest import mock

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from grader import kernel
from grader.datasheets import Gpu
from grader.performance.compiler import recipe
from grader.performance.meter.fake_gpu import pretended, without_gpu
from grader.performance.meter.fake_tensors import Hollow
from grader.performance.timing.autograd_passes import gradients
from grader.runner import loading, resource_limits
from grader.runner.backward import any_upstream
from grader.runner.command_loop import Reply, answering
from grader.runner.device_functions import PROBES
from grader.runner.tensors_on_the_wire import unpack_arguments
from grader.runner_answers import Loaded
from grader.runner_measurements import Surveyed
from grader.wire import Channel

Take = Callable[[Any, dict[str, Any], dict[str, Any]], None]  # kernel, its arguments by name, options


class Scout:
    """One learner's file, loaded to see what it would launch."""

    def __init__(self) -> None:
        self.path = ""
        self.module = ModuleType("kernel")

    def load(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Import the file, as it is imported where its kernels run."""
        self.path = header["path"]
        if kernel.EVALUATES:
            without_gpu()
        with contextlib.nullcontext() if kernel.EVALUATES else pretended(Gpu(**header["gpu"])):
            self.module = loading.load(self.path, bytes(blobs[0]), *loading.asked(header))
        return Loaded({}), []

    def survey(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Make one call, forward and backward, without its kernels; what it launches until it stumbles."""
        seen = Launches(self.module)
        arguments = unpack_arguments(header["arguments"], blobs, "cpu")
        upstream = unpack_arguments(header["upstream"], blobs, "cpu")
        leaves = [arguments[position].requires_grad_() for position in header["of"]]
        with (
            _handed_to(seen.note),
            seen.tuned(header["configs"]),
            pretended(Gpu(**header["gpu"])),
            Hollow(lambda *_: None),
        ):
            try:
                entry = getattr(self.module, header["entry"])
                result = (PROBES[header["probe"]](entry) if header["probe"] else entry)(*arguments)
                if leaves:
                    gradients(result, leaves, upstream or any_upstream(result, header["layout"]))
            except Exception:  # nothing was computed, and the launcher may have looked
                pass
        return Surveyed(seen.recipes), []


class Launches:
    """The launches of a call, as what a compiler has to know of them.

    Args:
        module: the learner's, whose kernels they are.
    """

    def __init__(self, module: Any) -> None:
        kernels = filter(None, map(jitted, vars(module).values()))
        self.jitted = {kernel.fn.__name__: kernel for kernel in kernels}
        self.tuning = 0
        self.recipes: list[dict[str, Any]] = []

    def note(self, kernel: Any, named: dict[str, Any], options: dict[str, Any]) -> None:
        """Write one down."""
        made = recipe.written(kernel, named, options)
        jitted = self.jitted.get(kernel.__name__)
        but = recipe.unspecialised(jitted) if jitted else recipe.NONE
        self.recipes.append({**recipe.specialised(kernel, made, but), "tuned": self.tuning > 0})

    @contextlib.contextmanager
    def tuned(self, most: int = 0) -> Iterator[None]:
        """While the block runs, the configs of an autotuner are told from a launcher's own choices.

        Args:
            most: up to so many are all tried at every call: the one that a GPU chose for a key is launched
                again where other strides need another compilation.
        """
        stock = Autotuner.run

        def run(tuner: Any, *args: Any, **options: Any) -> Any:
            self.tuning += 1
            if len(tuner.configs) <= most:
                tuner.cache.clear()
            try:
                return stock(tuner, *args, **options)
            finally:
                self.tuning -= 1

        with mock.patch.object(Autotuner, "run", run), mock.patch.object(Autotuner, "_bench", _tried):
            yield


def jitted(value: Any) -> Any:
    """The kernel inside of autotuners and heuristics; None when it is none."""
    for _ in range(8):
        if isinstance(value, JITFunction):
            return value
        value = getattr(value, "fn", None)
    return None


def _tried(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
    """A config of an autotuner, launched once and as quick as any other."""
    given = {**meta, **config.all_kwargs()}
    if config.pre_hook:
        config.pre_hook({**tuner.nargs, **given})
    tuner.fn.run(*args, **given)
    return [1.0, 1.0, 1.0]


def _handed_to(take: Take) -> contextlib.AbstractContextManager[Any]:
    """While the block runs, launches are handed to `take` and not carried out."""

    def run(kernel: Any, *args: Any, grid: Any, warmup: bool = False, **options: Any) -> None:
        known = inspect.signature(kernel.fn).parameters
        given = {name: value for name, value in options.items() if name in known}
        take(kernel.fn, inspect.getcallargs(kernel.fn, *args, **given), options)

    return mock.patch.object(JITFunction, "run", run)


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    resource_limits.usual(on_cpu=True)
    scout = Scout()
    answering(channel, {"load": scout.load, "survey": scout.survey}, lambda: scout.path)

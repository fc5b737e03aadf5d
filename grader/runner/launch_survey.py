"""What a call would launch on a GPU: launchers choose their tiles by it, and what they launch without one may
never be compiled for it.

survey {entry, probe, arguments, upstream, of, gpu, layout, configs}  → Surveyed

A GPU is pretended, with tensors that take no memory, and no kernel runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from triton.runtime.autotuner import Autotuner

from grader.datasheets import Gpu
from grader.kernel.frontend import specialised
from grader.kernel.launch_hook import Launching, handed_to
from grader.performance.compiler import recipe
from grader.performance.counting.fake_gpu import pretended
from grader.performance.counting.fake_tensors import Hollow
from grader.performance.timing.autograd_passes import gradients
from grader.runner.backward import any_upstream
from grader.runner.command_loop import Reply
from grader.runner.device_functions import PROBES
from grader.runner.tensors_on_the_wire import unpack_arguments
from grader.runner_measurements import Surveyed


def surveyed(runner: Any, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
    """Make one call, forward and backward, without its kernels; what it launches until it stumbles."""
    seen = Launches()
    arguments = unpack_arguments(header["arguments"], blobs, "cpu")
    upstream = unpack_arguments(header["upstream"], blobs, "cpu")
    leaves = [arguments[position].requires_grad_() for position in header["of"]]
    with (
        handed_to(seen.note),
        seen.tuned(header["configs"]),
        pretended(Gpu(**header["gpu"])),
        Hollow(lambda *_: None),
    ):
        try:
            entry = getattr(runner.module, header["entry"])
            result = (PROBES[header["probe"]](entry) if header["probe"] else entry)(*arguments)
            if leaves:
                gradients(result, leaves, upstream or any_upstream(result, header["layout"]))
        except Exception:  # nothing was computed, and the launcher may have looked
            pass
    return Surveyed(seen.recipes), []


class Launches:
    """The launches of a call, as what a compiler has to know of them."""

    def __init__(self) -> None:
        self.tuning = 0
        self.recipes: list[dict[str, Any]] = []

    def note(self, launching: Launching) -> None:
        """Write one down."""
        made = recipe.written(launching.kernel, launching.named(), launching.options)
        alike = specialised(launching.function, launching.args, launching.options)
        self.recipes.append({**made, "alike": alike, "tuned": self.tuning > 0})

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


def _tried(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
    """A config of an autotuner, launched once and as quick as any other."""
    given = {**meta, **config.all_kwargs()}
    if config.pre_hook:
        config.pre_hook({**tuner.nargs, **given})
    tuner.fn.run(*args, **given)
    return [1.0, 1.0, 1.0]

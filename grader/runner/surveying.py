"""The runner's answer about a call on a GPU that is not there: the launches that it would make; none is made.

survey {entry, arguments, of, gpu} → Surveyed

Launchers choose their tiles by the GPU: what they launch in the interpreter may never be compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from triton.runtime.autotuner import Autotuner

from grader import datasheets
from grader.answers import Surveyed
from grader.compiler import recipe
from grader.interpreter.launching import Launching, handed_to
from grader.meter.hollow import Hollow
from grader.meter.stage import pretended
from grader.runner.answering import Reply
from grader.runner.backward import any_upstream
from grader.runner.tensors import unpack_arguments
from grader.timing.passes import gradients


class Survey:
    """Looks at the launches of a loaded runner's calls."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner
        self.tuning = 0
        self.recipes: list[dict[str, Any]] = []

    def survey(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Make one call, forward and backward, without its kernels; what it launches until it stumbles."""
        self.recipes = []
        arguments = unpack_arguments(header["arguments"], blobs, "cpu")
        leaves = [arguments[position].requires_grad_() for position in header["of"]]
        stage = pretended(datasheets.GPUS[header["gpu"]])
        with handed_to(self._note), self._tuned(), stage, Hollow(lambda *_: None):
            try:
                result = getattr(self.runner.module, header["entry"])(*arguments)
                if leaves:
                    gradients(result, leaves, any_upstream(result))
            except Exception:  # nothing was computed, and the launcher may have looked
                pass
        return Surveyed(self.recipes), []

    def _note(self, launch: Launching) -> None:
        made = recipe.written(launch.kernel, launch.named(), launch.options)
        self.recipes.append({**recipe.specialised(launch.kernel, made), "tuned": self.tuning > 0})

    @contextmanager
    def _tuned(self) -> Iterator[None]:
        """While the block runs, the configs of an autotuner are told from a launcher's own choices."""
        stock = Autotuner.run

        def run(tuner: Any, *args: Any, **options: Any) -> Any:
            self.tuning += 1
            try:
                return stock(tuner, *args, **options)
            finally:
                self.tuning -= 1

        with mock.patch.object(Autotuner, "run", run):
            yield

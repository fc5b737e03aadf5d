"""The runner's answer about a call at full size without a GPU: what its launches would do.

meter  {entry, arguments, of, part, gpu, upstream, but, lighter}  → Metered   (see counting/counts.py)
walk   {entry, arguments, of, part, gpu, upstream}  → Walked    (see counting/address_walk.py)
trace  {entry, arguments, of}             → Traced    (see access_trace.py)

A runner that was metered believes in a GPU that is not there: it is of no further use. Nor is one that has
walked, but to walk again.
"""

from __future__ import annotations

import inspect
import resource
from itertools import zip_longest
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner

from grader.datasheets import Gpu
from grader.operator_memory_effects import storages_in, tensors_in
from grader.performance.counting.access_counter import Counter
from grader.performance.counting.access_tracer import Tracer, alone, traced
from grader.performance.counting.address_walk import APART, Walk
from grader.performance.counting.counts import LaunchCounts
from grader.performance.counting.fake_gpu import pretended
from grader.performance.counting.fake_tensors import Hollow
from grader.performance.counting.sampled_launch import Meter
from grader.performance.predict.autotuner_choice import tuned
from grader.performance.timing.autograd_passes import as_list, gradients
from grader.runner import error_messages
from grader.runner.backward import any_upstream
from grader.runner.command_loop import Reply
from grader.runner.tensors_on_the_wire import unpack_arguments
from grader.runner_answers import Failed
from grader.runner_measurements import Metered, Traced, Walked


class Metering:
    """Counts the calls of a loaded runner."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner

    def meter(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Count one call."""
        gpu = Gpu(**header["gpu"])
        counter = Counter(self.runner.path)
        arguments = unpack_arguments(header["arguments"], blobs, "cpu")

        def note(name: str, read: int, written: int, flops: int = 0, itemsize: int = 0) -> None:
            if not meter.paused:
                launch = LaunchCounts(f"torch.{name}", 0, (1, 1, 1), 1)
                launch.heaviest, launch.flops = read + written, flops
                launch.single = flops * (itemsize > 2)
                meter.launches.append(launch)

        hollow = Hollow(note)
        meter = Meter(counter, self._by_name(header, arguments), gpu, hollow.made)
        choosing = tuned(meter, gpu, header["but"], header["lighter"])
        with meter.installed(), choosing, pretended(gpu), hollow:
            made = tensors_in(self._call(meter, header, arguments))
        results = [(tensor.untyped_storage().data_ptr(), tensor.nbytes) for tensor in made]
        return Metered(meter.launches, results), []

    def walk(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Hold the addresses of some programs of one call against the bounds of its tensors."""
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (most, most))  # tensors take addresses here, and no memory
        arguments = unpack_arguments(header["arguments"], blobs, "cpu", APART)
        walk = Walk(self.runner.path, self._by_name(header, arguments))
        gpu = Gpu(**header["gpu"])
        try:
            with walk.installed(), pretended(gpu), Hollow(lambda *_: None, APART):
                self._call(walk, header, arguments)
        except Exception as error:
            return Failed(error_messages.describe(error, self.runner.path), walk.bounds.report()), []
        return Walked(walk.bounds.report()), []

    def trace(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Write down what each program of one small call touches."""
        arguments = unpack_arguments(header["arguments"], blobs, "cpu")
        arguments = [alone(value) if isinstance(value, torch.Tensor) else value for value in arguments]
        if self._tunes():  # what an autotuner tries is not drawn
            getattr(self.runner.module, header["entry"])(*arguments)
        tracer = Tracer(self.runner.path, storages_in(arguments))
        for position in header["of"]:
            arguments[position].requires_grad_()
        with traced(tracer):
            result = getattr(self.runner.module, header["entry"])(*arguments)
            if header["of"]:
                gradients(result, [arguments[position] for position in header["of"]], any_upstream(result))
        return Traced(tracer.launches), []

    def _by_name(self, header: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        """The call's arguments by the learner's names for them; of `*others` by a number."""
        known = inspect.signature(getattr(self.runner.module, header["entry"])).parameters
        names = [name for name, one in known.items() if one.kind is not one.VAR_POSITIONAL]
        every = zip_longest(names, arguments)
        return {name or f"argument {number}": value for number, (name, value) in enumerate(every)}

    def _tunes(self) -> bool:
        return any(isinstance(value, Autotuner) for value in vars(self.runner.module).values())

    def _call(self, meter: Meter | Walk, header: dict[str, Any], arguments: list[Any]) -> list[Any]:
        """The part of the call that is judged, and its results; what comes before it is not counted."""
        entry, part = getattr(self.runner.module, header["entry"]), header["part"]
        for position in header["of"]:
            arguments[position].requires_grad_()
        meter.paused = part == "backward"
        result = entry(*arguments)
        meter.paused = True
        results = as_list(result) if part != "backward" else []
        if part == "forward":
            return results
        upstream = any_upstream(result, header["upstream"])
        meter.paused = False
        return results + list(gradients(result, [arguments[position] for position in header["of"]], upstream))

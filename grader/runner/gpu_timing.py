"""The runner's answers about time and memory on a GPU. Claims all of them: the judge checks them against its
own clock.

prepare {entry, arguments, upstream, of, part, writes, rolled, allow} → Prepared
                                             warms up and, for short calls, captures
round   {calls, nonces}            → Round
burst   {calls}                    → Burst
verify  {which, slices}            → Verified
peak    {entry, arguments, of}     → Peak
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.performance.timing.autograd_passes import as_list, timed
from grader.performance.timing.stopwatch import Stopwatch, dense, own_stream, short
from grader.runner import backward
from grader.runner.command_loop import Reply
from grader.runner.operator_audit import Worked
from grader.runner.tensor_provenance import World
from grader.runner.tensors_on_the_wire import pack_outputs, unpack_arguments
from grader.runner_measurements import Burst, Peak, Prepared, Round, Verified


class Clock:
    """Times the functions of a loaded runner."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner
        self.watch: Stopwatch | None = None
        self.worked = Worked(())

    @own_stream()
    def prepare(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        self.watch = None
        torch.cuda.empty_cache()
        entry = getattr(self.runner.module, header["entry"])
        arguments = _packed(unpack_arguments(header["arguments"], blobs, "cuda"))
        upstream = _packed(unpack_arguments(header["upstream"], blobs, "cuda"))
        how = header["of"], header["part"], header["writes"]
        function, arguments = timed(entry, arguments, upstream, *how)
        writes = header["writes"] if header["part"] != "backward" else ()
        self.watch = Stopwatch(function, arguments, header["rolled"], writes)
        us = self.watch.warm_up()
        self.worked = Worked(header["allow"])
        self.worked.look(function, self.watch.sets[0])
        captured = short(us) and self.watch.capture(us)
        return Prepared(us, len(self.watch.outputs) if captured else 0, self.worked.seen()), []

    @own_stream()
    def round(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        assert self.watch is not None
        if not self.watch.graph:  # else no code of the file runs any more
            self.worked.look(self.watch.function, self.watch.sets[0])
        return Round(self.watch.round(header["calls"], header["nonces"]), self.worked.seen()), []

    @own_stream()
    def burst(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        assert self.watch is not None
        self.watch.burst(header["calls"])
        return Burst(), []

    @own_stream()
    def verify(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        assert self.watch is not None
        result, nonce = self.watch.result(header["which"])
        outputs, data = pack_outputs(as_list(result), World(), header["slices"])
        return Verified(nonce, outputs), data

    def peak(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """What one call allocates at its peak, and what of it the outputs are; after one call to compile."""
        entry = getattr(self.runner.module, header["entry"])
        arguments = unpack_arguments(header["arguments"], blobs, "cuda")
        for position in header["of"]:
            arguments[position] = arguments[position].detach().requires_grad_()
        leaves = [arguments[position] for position in header["of"]]
        upstream = backward.any_upstream(_called(entry, arguments, leaves, None)[0])
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        outputs = _called(entry, arguments, leaves, upstream)[1]
        return Peak(torch.cuda.max_memory_allocated() - before, backward.size(outputs)), []


def _called(
    entry: Callable[..., Any], arguments: list[Any], leaves: list[torch.Tensor], upstream: list[Any] | None
) -> tuple[Any, list[Any]]:
    """A call, forward and backward: what it returned, and that with its gradients, all done."""
    result = entry(*arguments)
    given = backward.any_upstream(result) if upstream is None else upstream
    outputs = [*as_list(result), *backward.gradients(result, leaves, given, 1)]
    torch.cuda.synchronize()
    return result, outputs


def _packed(values: list[Any]) -> list[Any]:
    """Each in one piece of memory; a transposed tensor stays one."""
    loose = [isinstance(value, torch.Tensor) and not dense(value) for value in values]
    return [value.contiguous() if apart else value for value, apart in zip(values, loose, strict=True)]

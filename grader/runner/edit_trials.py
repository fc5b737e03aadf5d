"""Edits of the learner's file, each run on the same small case: what a repair is looked for with.

Only results, addresses and races are looked at: that takes a third of the time of a call that is judged. What
comes through here is judged as any file is.
"""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from grader.kernel import location
from grader.kernel.bounds import Bounds
from grader.kernel.launch_hook import Launching, handed_to
from grader.kernel.tensor_regions import regions_of
from grader.performance.timing.autograd_passes import results_of
from grader.runner import backward, loading
from grader.runner.answering import Reply
from grader.runner.device_functions import PROBES
from grader.runner.made_arguments import TakingTensors
from grader.runner.tensors_on_the_wire import bytes_of, unpack_arguments
from grader.runner_answers import Called, Failed, Fault, Launch, PlainOutput, TensorOutput
from grader.tensor_storage import poison, raw
from grader.torch_operators import EMPTY, Watch

UNSEEN = Called("Tensor", [], [], [], [], False, [], 0, [], [], [])  # whatever is not looked at
SECONDS = 0.5  # for one of them: some loop for ever
REPEATED = 2  # times that a byte is stored: where all programs do the work of each, that is no cure


class Editing:
    """Runs edits of a file on one case."""

    def __init__(self) -> None:
        self.specs: list[dict[str, Any]] = []
        self.blobs: list[bytearray] = []
        self.header: dict[str, Any] = {}

    def case(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Take the case that they are run on; its answer says nothing."""
        self.header, self.blobs = header, blobs
        self.specs = [*header["arguments"], *header["upstream"]]
        return UNSEEN, []

    def edited(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Load one of them, and call it."""
        asked, path, source = self.header, header["path"], bytes(blobs[0])
        bounds, launches = Bounds(path), list[Launch]()
        try:
            with _at_most(SECONDS), Filled(), contextlib.redirect_stdout(io.StringIO()):
                entry = getattr(loading.module("kernel", path, source), asked["entry"])
                entry = TakingTensors(entry, asked["made"]) if asked["made"] else entry
                entry = PROBES[asked["probe"]](entry) if asked["probe"] else entry
                handed = unpack_arguments(self.specs, [bytearray(blob) for blob in self.blobs], "cpu")
                arguments, upstream = handed[: len(asked["arguments"])], handed[len(asked["arguments"]) :]
                written = [arguments[position].detach() for position in asked["writes"]]
                leaves = [arguments[position].requires_grad_() for position in asked["of"]]
                given = {
                    spec.get("name", str(at)): one
                    for at, (spec, one) in enumerate(zip(self.specs, handed, strict=True))
                }

                def carry_out(launch: Launching) -> None:
                    bounds.launch(regions_of(launch.named(), given))
                    launch.run(bounds)
                    launches.append(Launch(launch.kernel.__name__, list(location.grid())))

                with handed_to(carry_out):
                    results = results_of(entry(*arguments), written)
                    grads = backward.gradients(results, leaves, upstream, 1)
            found = [
                torch.Tensor.detach(one) if isinstance(one, torch.Tensor) else one
                for one in [*results, *grads]
            ]
            outputs = [_entry(one) for one in found]
            data = [bytes_of(one) for one in found if isinstance(one, torch.Tensor)]
        except Exception as error:
            return Failed(Fault("exception", type(error).__name__, "", 0, "", []), []), []
        if bounds.moved > REPEATED * sum(int(one.sum()) for one in bounds.stored.values()):
            return Failed(Fault("exception", "Repeated", "", 0, "", []), []), []
        report = replace(UNSEEN, outputs=outputs, launches=launches, backward=bool(grads))
        return replace(report, races=bounds.races.report(), overruns=bounds.report()), data


def _entry(value: Any) -> TensorOutput | PlainOutput:
    if not isinstance(value, torch.Tensor):
        plain = isinstance(value, int | float | bool)
        return PlainOutput(type(value).__name__, value if plain else None)
    dtype = str(value.dtype).removeprefix("torch.")
    return TensorOutput(dtype, list(value.shape), list(value.stride()), "cpu", "torch.empty", True)


class Filled(Watch):  # type: ignore[no-untyped-call]
    """What torch.empty allocates holds poison, so that what nobody wrote is wrong."""

    def ran(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
        empty = func._schema.name.removeprefix("aten::") in EMPTY
        if empty and isinstance(result, torch.Tensor) and result.numel():
            poison(raw(result.untyped_storage()))
        return result


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block after so many seconds of this process, however busy the machine is."""

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

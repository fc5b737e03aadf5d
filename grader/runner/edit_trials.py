"""Edits of the learner's file, each run on the same small case: what a repair is looked for with.

Only results, addresses and races are looked at, which takes half the time of a call that is judged. What
comes through here is judged as any file is.
"""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from grader.kernel.bounds import Bounds
from grader.performance.timing.autograd_passes import results_of
from grader.runner import backward, loading
from grader.runner.command_loop import Reply
from grader.runner.device_functions import PROBES
from grader.runner.launches import observed
from grader.runner.made_arguments import TakingTensors
from grader.runner.tensors_on_the_wire import pack_outputs, unpack_arguments
from grader.runner.torch_dispatch_mode import World
from grader.runner_answers import Called, Failed, Fault

UNSEEN = Called("Tensor", [], [], [], [], False, [], 0, [], [], [])  # whatever is not looked at
SECONDS = 0.5  # for one of them: some loop for ever
REPEATED = 2  # times that a byte is stored: where all programs do the work of each, that is no cure


class Editing:
    """Runs edits of a file on one case."""

    def __init__(self) -> None:
        self.blobs: list[bytearray] = []
        self.header: dict[str, Any] = {}

    def case(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Take the case that they are run on; its answer says nothing."""
        self.header, self.blobs = header, blobs
        return UNSEEN, []

    def edited(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Load one of them, and call it."""
        asked, path = self.header, header["path"]
        world, bounds = World((), path), Bounds(path)
        specs = [*asked["arguments"], *asked["upstream"]]
        handed = unpack_arguments(specs, [bytearray(blob) for blob in self.blobs], "cpu")
        world.memory.add_inputs(specs, handed, asked["writes"])
        arguments, upstream = handed[: len(asked["arguments"])], handed[len(asked["arguments"]) :]
        written = [arguments[position].detach() for position in asked["writes"]]
        leaves = [arguments[position].requires_grad_() for position in asked["of"]]
        silent = contextlib.redirect_stdout(io.StringIO())
        try:
            with _at_most(SECONDS), silent, observed(world, bounds) as launches:
                entry = getattr(loading.module("kernel", path, bytes(blobs[0])), asked["entry"])
                entry = TakingTensors(entry, asked["made"]) if asked["made"] else entry
                entry = PROBES[asked["probe"]](entry) if asked["probe"] else entry
                with world:
                    results = results_of(entry(*arguments), written)
                    grads = backward.gradients(results, leaves, upstream, 1)
            outputs, data = pack_outputs([*results, *grads], world, None)
        except Exception as error:
            return Failed(Fault("exception", type(error).__name__, "", 0, "", []), []), []
        if bounds.moved > REPEATED * sum(int(one.sum()) for one in bounds.stored.values()):
            return Failed(Fault("exception", "Repeated", "", 0, "", []), []), []
        report = replace(UNSEEN, outputs=outputs, launches=launches, backward=bool(grads))
        return replace(report, races=bounds.races.report(), overruns=bounds.report()), data


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

"""A kernel of which some programs run, one at a time, on tensors that nobody filled.

Values of floats are not computed where they cost: loads give zeros, and products what they add to. Those that
lead somewhere, integers, are real. Long loops are cut short, as loop_sampling.py has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.kernel import number_formats
from grader.kernel.access import Site, Touch
from grader.kernel.access_analysis import Recorder
from grader.kernel.batch import Batch, whole
from grader.kernel.evaluator import Machine, Step, giving
from grader.kernel.launch import Ready
from grader.kernel.memory import Bytes, Memory
from grader.kernel.number_formats import Array
from grader.kernel.tensor_regions import Region
from grader.kernel.ttir import Operation, Program
from grader.performance.counting.loop_sampling import Loops, sampled_loop, sampled_while

MOVES = ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas")


class Unfilled(Memory):
    """Memory as it is, of which no kernel needs a copy; a float in it is 0."""

    def load(
        self, batch: Batch, site: Site, address: Array, mask: Array | None, other: Array | None, element: str
    ) -> Array:
        if element[0] not in "fb":
            return super().load(batch, site, address, mask, other, element)
        touch = Touch("load", site, address, mask, number_formats.size(element), element)
        self.recorder.touched(batch, touch)
        return np.zeros((1,) * address.ndim, number_formats.carrier(element))

    def _elements(self, region: Region, size: int) -> Array:
        count = (region.high - region.low) // size * size
        return np.asarray(Bytes(region.low, count)).view(number_formats.RAW[size])


class Sampled(Machine):
    """One kernel, ready to run.

    Args:
        loops: of the program that runs.
    """

    def __init__(self, program: Program, path: str, loops: Loops) -> None:
        self.loops = loops
        super().__init__(program, path)

    def one(self, ready: Ready, grid: tuple[int, int, int], recorder: Recorder, number: int) -> None:
        """Run the program of a number of a launch.

        Args:
            recorder: is told of every access before it happens. What it raises ends the program.
        """
        self.launched[:] = ready.launched
        self.run(ready.given, grid, [number], Unfilled(recorder), at_once=1)

    def _made(self, operation: Operation) -> Step:
        make = SAMPLED.get(operation.name)
        if make:
            return giving(make(self, operation), operation.outs)
        step = super()._made(operation)
        return _at_full_length(step, operation) if operation.name in MOVES else step


def _at_full_length(step: Step, operation: Operation) -> Step:
    """An access, each of whose lanes has an address of its own."""
    slot = operation.ins[0]
    shape = operation.takes[operation.name.startswith("tt.atomic")].shape

    def full(batch: Batch) -> None:
        address = batch[slot]
        batch[slot] = whole(address, shape)
        step(batch)
        batch[slot] = address

    return full


def _dot(_: Sampled, operation: Operation) -> Callable[[Batch], list[Array]]:
    total = operation.ins[2]
    return lambda batch: [batch[total]]


SAMPLED: dict[str, Callable[[Any, Operation], Callable[[Batch], Any]]] = {
    **{"tt.dot": _dot, "scf.for": sampled_loop, "scf.while": sampled_while},
    **dict.fromkeys(("tt.print", "tt.assert"), lambda *_: lambda _: []),
}

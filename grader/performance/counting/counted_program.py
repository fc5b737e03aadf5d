"""A launch counted by some of its programs: what they do to memory, and their arithmetic."""

from __future__ import annotations

import math

from grader.kernel import number_formats
from grader.kernel.batch import Batch
from grader.kernel.evaluator import Step
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Block, Operation, Program
from grader.performance.counting.access_counter import LANES, Counter, Cut
from grader.performance.counting.data_dependent import DataFlow
from grader.performance.counting.sampled_program import Sampled


class Counted(Sampled):
    """One kernel, ready to be counted.

    Args:
        counter: that is told of every access and operation.
    """

    def __init__(self, counter: Counter, program: Program) -> None:
        self.counter = counter
        self.work: dict[int, float] = {}  # of blocks, by their numbers
        self.flow = DataFlow(program)
        super().__init__(program, counter.path, counter.loops)

    def steps(self, block: Block, batch: Batch) -> list[Array]:
        if block.number not in self.work:
            computing = (one for one in block.operations if one.name.startswith(("arith.", "math.")))
            sizes = [math.prod(one.gives[-1].shape) for one in computing if one.takes and one.gives]
            self.work[block.number] = 1 + len(sizes) + sum(sizes) / LANES
        self.counter.spend(self.work[block.number])
        return super().steps(block, batch)

    def _made(self, operation: Operation) -> Step:
        step = super()._made(operation)
        return self._multiplied(step, operation) if operation.name == "tt.dot" else step

    def _multiplied(self, step: Step, operation: Operation) -> Step:
        """A product that counts."""
        a, b = operation.takes[:2]
        flops, size = 2.0 * math.prod(a.shape) * b.shape[-1], math.prod(operation.gives[0].shape)
        narrow, line = number_formats.size(a.element) == 1, self.places.site(operation.place, []).line
        counter = self.counter

        def counted(batch: Batch) -> None:
            if counter.brief:
                raise Cut
            counter.spend(1 + size / LANES)
            tally, made = counter.tally, counter.loops.weight * flops
            tally.dots += counter.loops.weight
            tally.dot_line = tally.dot_line or line
            tally.flops += made
            tally.narrow += made * narrow
            step(batch)

        return counted

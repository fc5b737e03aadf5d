"""A launch counted by some of its programs: what they do to memory, and their arithmetic."""

from __future__ import annotations

import math
import re

from grader.kernel import number_formats
from grader.kernel.batch import Batch
from grader.kernel.evaluator import Step
from grader.kernel.ttir import Operation, Program
from grader.performance.meter.access_counter import Counter, Cut
from grader.performance.meter.sampled_program import SAMPLED, Sampled

BINARY = re.compile(r"arith\.(add|sub|mul|div|rem|cmp|neg|max\w*|min\w*)f|tt\.precise_divf|math\.fma")
SPECIAL = re.compile(r"math\.\w+|tt\.precise_sqrt|tt\.extern_elementwise")
COMPUTES = re.compile(r"(arith|math)\.\w+|tt\.(precise_\w+|extern_elementwise|mulhiui)")  # element by element


class Counted(Sampled):
    """One kernel, ready to be counted.

    Args:
        counter: that is told of every access and operation.
    """

    def __init__(self, counter: Counter, program: Program) -> None:
        self.counter = counter
        super().__init__(program, counter.path, counter.loops)

    def _made(self, operation: Operation) -> Step:
        step, name = super()._made(operation), operation.name
        if name == "tt.dot":
            return self._multiplied(step, operation)
        computes = name not in SAMPLED and operation.takes and operation.gives and COMPUTES.fullmatch(name)
        return self._told(step, operation) if computes else step

    def _told(self, step: Step, operation: Operation) -> Step:
        """A step that counts."""
        size, line = math.prod(operation.gives[-1].shape), self.places.site(operation.place, []).line
        kind = _kind(operation.name) if operation.takes[0].element == "f64" else ""
        counter = self.counter

        def counted(batch: Batch) -> None:
            counter.spend(size)
            if kind:
                ops = counter.tally.ops
                ops[kind] = ops.get(kind, 0.0) + counter.loops.weight * size
                counter.tally.lines.setdefault("fp64", line)
            step(batch)

        return counted

    def _multiplied(self, step: Step, operation: Operation) -> Step:
        """A product that counts."""
        a, b = operation.takes[:2]
        flops, size = 2.0 * math.prod(a.shape) * b.shape[-1], math.prod(operation.gives[0].shape)
        narrow, line = number_formats.size(a.element) == 1, self.places.site(operation.place, []).line
        counter = self.counter

        def counted(batch: Batch) -> None:
            if counter.brief:
                raise Cut
            counter.spend(size)
            tally, made = counter.tally, counter.loops.weight * flops
            tally.dots += counter.loops.weight
            tally.lines.setdefault("dot", line)
            tally.flops += made
            tally.waited += made * counter.loops.waits
            if narrow:
                tally.ops["8-bit dot"] = tally.ops.get("8-bit dot", 0.0) + made
            step(batch)

        return counted


def _kind(name: str) -> str:
    """What arithmetic in fp64 is counted as."""
    return "fp64" if BINARY.fullmatch(name) else "special64" if SPECIAL.fullmatch(name) else ""

"""A launch of a kernel: compiled as far as TTIR, and evaluated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from grader.kernel import execution_position, frontend, number_formats, program_order, ttir_parser
from grader.kernel.access_analysis import Recorder
from grader.kernel.evaluator import Machine
from grader.kernel.memory import Memory
from grader.kernel.number_formats import Array

_machines: dict[Any, Machine] = {}


class Ready(NamedTuple):
    """A launch that waits for its grid.

    Attributes:
        given: its arguments, each an array of one element.
        launched: the lines that led to it.

    While it runs, nothing happens that Python's audits tell a hook of.
    """

    machine: Machine
    given: list[Array]
    launched: list[int]

    def run(self, grid: tuple[int, int, int], recorder: Recorder, at_once: int = 0) -> None:
        """Run all programs of a grid, `at_once` at a time where that is not 0.

        Raises:
            OutOfBounds: the kernel strays from all memory that there is.
            AssertionInKernel: what it asserts does not hold.
        """
        self.machine.launched[:] = self.launched
        memory = Memory(recorder)
        try:
            self.machine.run(self.given, grid, program_order.programs(math.prod(grid)), memory, at_once)
        finally:
            memory.settle()


def prepared(
    function: Any, args: tuple[Any, ...], options: dict[str, Any], path: str, whole: bool = False
) -> Ready:
    """A launch, compiled.

    Args:
        function: Triton's, as the decorator made it.
        path: the learner's file.
        whole: as `frontend.compiled` has it.

    Raises:
        CompilationError: the compiler does not take the kernel.
        Unevaluated: it does, and nobody has written what some operation of it computes.
    """
    bound = frontend.compiled(function, args, dict(options), whole)
    if bound.key not in _machines:
        _machines[bound.key] = Machine(ttir_parser.program(bound.text), path)
    machine = _machines[bound.key]
    lines = [line for line in (execution_position.line(path), *execution_position.callers(path)) if line]
    return Ready(machine, _scalars(machine, bound), lines)


def running(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    """Where the kernels are whose machines run in this frame and those above: files and lines, innermost
    first.
    """
    while frame is not None:
        if frame.f_code is Machine.steps.__code__ and "step" in frame.f_locals:
            machine, step = frame.f_locals["self"], frame.f_locals["step"]
            site = machine.places.site(machine.made[id(step)].place, machine.launched)
            yield machine.places.path, site.line
        frame = frame.f_back


def _scalars(machine: Machine, bound: frontend.Bound) -> list[Array]:
    """A launch's arguments, each an array of one element."""
    kinds = machine.program.functions[machine.program.kernel].kinds
    flat = [one for value in bound.given for one in _flat(value)]
    return [_scalar(value, kind.element) for value, kind in zip(flat, kinds, strict=True)]


def _flat(value: Any) -> Iterator[Any]:
    """What the compiler makes several arguments of."""
    if isinstance(value, TensorDescriptor):
        sizes = [*value.shape, *value.strides]
        yield from (value.base, *sizes, getattr(value, "padding", "zero") == "nan")
        if hasattr(value, "round_f32_to_tf32"):  # from Triton 3.7 on
            yield value.round_f32_to_tf32
        yield from sizes
    else:
        yield value


def _scalar(value: Any, element: str) -> Array:
    """An argument as an array of one element."""
    if isinstance(value, torch.Tensor) or hasattr(value, "data_ptr"):
        return np.array([value.data_ptr()], np.int64)
    if element[0] in "fb":
        return number_formats.rounded(np.array([value], np.float64), element)
    return np.array([int(value) % 2**64], np.uint64).astype(number_formats.carrier(element))

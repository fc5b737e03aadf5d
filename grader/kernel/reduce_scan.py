"""tl.reduce and tl.associative_scan by whatever function, for all pairs of a step at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.kernel.batch import Batch, Runs, whole
from grader.kernel.elementwise import PLAIN
from grader.kernel.number_formats import NARROW, Array
from grader.kernel.tile_operations import number
from grader.kernel.ttir import Block, Operation

EXACT = (np.maximum, np.minimum, np.fmax, np.fmin)  # what rounds nothing


def reduced(machine: Runs, operation: Operation) -> Callable[[Batch], list[Array]]:
    """In a tree, as lanes and warps do it."""
    axis, shape, block = axis_of(operation), operation.takes[0].shape, operation.regions[0].body
    known = _known(operation, block)

    def reduce(batch: Batch) -> list[Array]:
        values = [whole(batch[slot], shape) for slot in operation.ins]
        if known:
            return [known.reduce(values[0], axis, dtype=values[0].dtype)]
        while values[0].shape[axis] > 1:
            half = values[0].shape[axis] // 2
            left, right = ([_cut(x, axis, *part) for x in values] for part in ((0, half), (half, 2 * half)))
            values = _combined(machine, block, batch, left, right)
        return [value.take(0, axis) for value in values]

    return reduce


def scanned(machine: Runs, operation: Operation) -> Callable[[Batch], list[Array]]:
    """Each lane takes in what lies 1, 2, 4, … places before it."""
    axis, shape, block = axis_of(operation), operation.takes[0].shape, operation.regions[0].body
    known, backwards = _known(operation, block), "reverse = true" in operation.text

    def scan(batch: Batch) -> list[Array]:
        values = [whole(batch[slot], shape) for slot in operation.ins]
        values = [np.flip(value, axis) for value in values] if backwards else values
        if known:
            values = [known.accumulate(values[0], axis, dtype=values[0].dtype)]
        reach, count = 1, 0 if known else shape[axis - 1]
        while reach < count:
            left, right = (
                [_cut(x, axis, *part) for x in values] for part in ((0, count - reach), (reach, count))
            )
            made = _combined(machine, block, batch, left, right)
            parts = zip(values, made, right, strict=True)
            values = [
                np.concatenate([_cut(x, axis, 0, reach), np.broadcast_to(new, like.shape)], axis)
                for x, new, like in parts
            ]
            reach *= 2
        return [np.flip(value, axis) for value in values] if backwards else values

    return scan


def axis_of(operation: Operation) -> int:
    """Among the axes of the values, of which the first is that of programs."""
    return number(operation, "axis") + 1


def _known(operation: Operation, block: Block) -> Any:
    """NumPy's own function, where two lanes are combined by one operation that it has."""
    if len(operation.ins) != 1 or len(block.operations) != 2 or {*block.operations[0].ins} != {*block.args}:
        return None
    function: Any = PLAIN.get(block.operations[0].name)
    rounds = operation.takes[0].element in NARROW and function not in EXACT
    return function if isinstance(function, np.ufunc) and not rounds else None


def _cut(value: Array, axis: int, start: int, stop: int) -> Array:
    return value[(slice(None),) * axis + (slice(start, stop),)]


def _combined(
    machine: Runs, block: Block, batch: Batch, left: list[Array], right: list[Array]
) -> list[Array]:
    for slot, value in zip(block.args, left + right, strict=True):
        batch[slot] = value
    return machine.steps(block, batch)

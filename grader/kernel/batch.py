"""The values of some programs of a grid, all at once.

Each has an axis of programs before its own, of length 1 where it is the same in all of them; axes along which
it is the same have length 1, too, until somebody needs them whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from grader.kernel.number_formats import Array
from grader.kernel.ttir import Block, Operation, Program


class Batch(list[Any]):
    """Values by slot.

    Attributes:
        programs: their numbers in the grid, the first axis fastest.
        grid: how far it goes along each axis.
    """

    def __init__(self, slots: int, programs: Array, grid: tuple[int, int, int]) -> None:
        super().__init__([None] * slots)
        self.programs, self.grid = programs, grid

    @property
    def size(self) -> int:
        """How many programs there are."""
        return len(self.programs)

    def place(self, axis: int) -> Array:
        """Of each program where it is along an axis of the grid."""
        if self.grid[axis] == 1:
            return np.zeros(1, np.int32)
        below = int(np.prod(self.grid[:axis], dtype=np.int64))
        return (self.programs // below % self.grid[axis]).astype(np.int32)

    def some(self, which: Array, slots: Iterable[int]) -> Batch:
        """The same of some of the programs, with the values that these slots hold."""
        part = Batch(len(self), self.programs[which], self.grid)
        for slot in slots:
            value = self[slot]
            part[slot] = value if value is None or value.shape[0] == 1 else value[which]
        return part


class Runs(Protocol):
    """A machine, as those know it whose operations hold others.

    Attributes:
        ends: by the number of a block its last operation.
    """

    program: Program
    ends: dict[int, Operation]

    def steps(self, block: Block, batch: Batch) -> list[Array]:
        """Run a block; what its last operation hands on."""


def chosen(value: Array, which: Array) -> Array:
    """A value in some of the programs."""
    return value if value.shape[0] == 1 else value[which]


def whole(value: Array, shape: Sequence[int]) -> Array:
    """With all its own axes at full length."""
    return value if value.shape[1:] == tuple(shape) else np.broadcast_to(value, (value.shape[0], *shape))


def merged(count: int, parts: list[tuple[Array, list[Array]]]) -> list[Array]:
    """The values of all programs, from those of groups that went different ways."""
    if len(parts) == 1:
        return parts[0][1]
    results = []
    for values in zip(*(given for _, given in parts), strict=True):
        shape = np.broadcast_shapes(*(value.shape[1:] for value in values))
        made = np.empty((count, *shape), values[0].dtype)
        for (which, _), value in zip(parts, values, strict=True):
            made[which] = value
        results.append(made)
    return results

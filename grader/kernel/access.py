"""Accesses of a kernel to memory: all programs' of a batch at once, and a program's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from grader.kernel import execution_position, number_formats
from grader.kernel.batch import Batch
from grader.kernel.number_formats import Array


class Site(NamedTuple):
    """Where an operation stands in the learner's file.

    Attributes:
        line: 0 where it is in none of its lines.
        calls: the lines in kernels that led there, innermost first.
        launched: those that led to the launch.
    """

    line: int
    calls: list[int]
    launched: list[int]

    @property
    def callers(self) -> list[int]:
        """All that led there."""
        return [*self.calls, *self.launched]


class Touch(NamedTuple):
    """An access of all programs of a batch, before it happens.

    Attributes:
        kind: load, store or atomic.
        address: in bytes, int64.
        mask: the active lanes, of the same shape; None if all are.
        size: bytes of an element.
        bits: what a store writes.
        op: of an atomic.
    """

    kind: str
    site: Site
    address: Array
    mask: Array | None
    size: int
    element: str
    bits: Array = None
    op: str = ""


class Access(NamedTuple):
    """One load, store or atomic of one program, before it happens.

    Attributes:
        kind: load, store or atomic.
        addresses: of its lanes, in bytes.
        mask: which of the lanes are active; bool, of the same shape.
        element: as TTIR spells it.
        value: the bits that a store writes, of a shape that fits the lanes.
    """

    kind: str
    addresses: Any
    mask: Any
    element: str
    value: Any = None

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return number_formats.size(self.element)

    @property
    def floats(self) -> bool:
        """Whether an element is one, and leads nowhere."""
        return self.element[0] in "fb"

    @property
    def lanes(self) -> Any:
        """The addresses of the active lanes."""
        return self.addresses[self.mask]


def accesses(batch: Batch, touch: Touch) -> Iterator[Access]:
    """Of each program its own lanes; while one is looked at, that is where a kernel is."""
    address = np.broadcast_to(touch.address, (batch.size, *touch.address.shape[1:])).view(np.uint64)
    mask = np.broadcast_to(True if touch.mask is None else touch.mask, address.shape)
    for number, program in enumerate(batch.programs.tolist()):
        place = execution_position.place(program, batch.grid)
        value = None if touch.bits is None else touch.bits[number]
        with execution_position.evaluated(touch.site.line, touch.site.callers, place, batch.grid):
            yield Access(touch.kind, address[number], mask[number], touch.element, value)

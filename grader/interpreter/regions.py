"""The memory of a launch's tensors, and what lies beside it."""

from __future__ import annotations

from dataclasses import dataclass


class OutOfBounds(RuntimeError):
    """A kernel touched memory that belongs to no tensor it was given."""


@dataclass(frozen=True)
class Region:
    """Memory of one tensor: data in [start, stop), guard words around it in [low, high); byte addresses.

    `own` if the call allocated it.
    """

    name: str
    low: int
    start: int
    stop: int
    high: int
    own: bool = False


@dataclass(frozen=True)
class Overrun:
    """An access beside a tensor.

    Attributes:
        kind: load, store or atomic.
        where: in words, "31 elements past the end of x".
        lanes: how many of the access lie outside.
        masked: the access had a mask that let some lanes through and held others back.
        tile: the access has two or more dimensions.
        crowded: it touches more lanes than the tensor has elements.
        step: the largest number that divides the offsets of all its lanes, in elements.
        itemsize: bytes of an element.
    """

    kind: str
    tensor: str
    line: int
    program: tuple[int, int, int]
    where: str
    lanes: int
    masked: bool
    tile: bool
    crowded: bool
    step: int
    itemsize: int

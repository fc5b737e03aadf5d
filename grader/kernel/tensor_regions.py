"""The memory of a launch's tensors, and what lies beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grader.operator_memory_effects import tensors_in
from grader.tensor_storage import span


class OutOfBounds(RuntimeError):
    """A kernel touched memory that belongs to no tensor it was given."""


@dataclass(frozen=True)
class Region:
    """Memory of one tensor: data in [start, stop), guard words around it in [low, high); byte addresses.

    `own` if the call allocated it, or is there to write it.
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
        line: of the file, where the access stands.
        where: in words, "up to 31 elements past the end of x".
        lanes: how many of the access lie outside.
        masked: the access had a mask that let some lanes through and held others back.
        tile: the access has two or more dimensions.
        beyond: none of them lies inside.
        step: the largest number that divides the offsets of all its lanes, in elements.
        itemsize: bytes of an element.
        wrapped: what lies outside would lie in the tensor, 2³² elements further on.
        turned: the lines on which an int32 of this program passed 2³¹, where that was looked at.
        callers: the lines that led to `line`, innermost first: calls in kernels, then the launch.
    """

    kind: str
    tensor: str
    line: int
    program: tuple[int, int, int]
    where: str
    lanes: int
    masked: bool
    tile: bool
    beyond: bool
    step: int
    itemsize: int
    wrapped: bool = False
    callers: list[int] = field(default_factory=list)
    turned: list[int] = field(default_factory=list)


def regions_of(named: dict[str, Any], handed: dict[str, Any]) -> list[Region]:
    """The memory of every tensor among a launch's arguments, by the parameter's name, and of what else the
    call was handed, by its own: a table of addresses may lead there.

    Args:
        handed: the arguments of the call by name.
    """
    given = {tensor.untyped_storage().data_ptr() for tensor in tensors_of(handed).values()}
    found: dict[int, Region] = {}
    lows = set[int]()
    for name, tensor in tensors_of(named).items():
        region = _region(name, tensor, given)
        found.setdefault(region.start, region)
        lows.add(region.low)
    others = (_region(name, tensor, given) for name, tensor in tensors_of(handed).items())
    return [*found.values(), *(one for one in others if one.low not in lows)]


def _region(name: str, tensor: Any, given: set[int]) -> Region:
    storage = tensor.untyped_storage()
    low, start = storage.data_ptr(), tensor.data_ptr()
    return Region(name, low, start, start + span(tensor), low + storage.nbytes(), low not in given)


def tensors_of(named: dict[str, Any]) -> dict[str, Any]:
    """The tensors among a launch's arguments by what the kernel calls them: `pair[1]` of those in a tuple."""
    found: dict[str, Any] = {}
    for name, value in named.items():
        if isinstance(value, tuple | list):
            found |= tensors_of({f"{name}[{number}]": one for number, one in enumerate(value)})
        else:
            found |= {called: tensor for called, tensor in zip([name], tensors_in([value]), strict=False)}
    return found

"""A kernel as TTIR has it: functions of blocks of operations, each value in a numbered slot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple


class Uncompilable(Exception):
    """TTIR holds what no machine code can be made of."""


class Unevaluated(NotImplementedError):
    """TTIR holds what a GPU computes, and nobody has written here."""


class Type(NamedTuple):
    """Of a value.

    Attributes:
        shape: empty of a scalar.
        element: as MLIR spells it, `f32`; `*f32` of a pointer to it.
    """

    shape: tuple[int, ...]
    element: str


@dataclass
class Operation:
    """One operation.

    Attributes:
        name: `tt.load`.
        outs, ins: the slots of its results and of its operands.
        text: how it was printed, without results, place and quoted words.
        words: those words.
        takes, gives: types of operands and results, as far as they are printed.
        regions: what belongs to it, the body of a loop for example.
        place: the name of its place in the source.
        next: of a branch where it goes, and with which values.
    """

    name: str
    outs: list[int]
    ins: list[int]
    text: str
    words: list[str]
    takes: list[Type]
    gives: list[Type]
    place: str
    regions: list[Region] = field(default_factory=list)
    next: list[tuple[str, list[int]]] = field(default_factory=list)


@dataclass
class Block:
    """Operations that run one after another.

    Attributes:
        args: slots that whoever comes here fills.
        number: of its own, for who keeps something by block: to ask for its id is one of Python's audits.
    """

    args: list[int]
    operations: list[Operation]
    number: int = field(default_factory=count().__next__)


@dataclass
class Region:
    """Blocks by name; the first, `""`, is where it begins."""

    blocks: dict[str, Block]

    @property
    def body(self) -> Block:
        """Of a region with one block: that."""
        return self.blocks[""]


@dataclass
class Function:
    """A kernel, or a device function that is not inlined."""

    name: str
    kinds: list[Type]
    region: Region


@dataclass
class Program:
    """All of a module.

    Attributes:
        slots: how many values it has.
        places: what a place's name stands for, as printed.
    """

    functions: dict[str, Function]
    kernel: str
    slots: int
    places: dict[str, str]


def operations(*within: Program | Operation) -> Iterator[Operation]:
    """All operations of a program, or of the regions of one."""
    regions = [one for each in within if isinstance(each, Operation) for one in each.regions]
    regions += [f.region for each in within if isinstance(each, Program) for f in each.functions.values()]
    while regions:
        for block in regions.pop().blocks.values():
            for operation in block.operations:
                yield operation
                regions += operation.regions


def outer(region: Region) -> set[int]:
    """The slots that a region reads and that are filled outside of it."""
    used, made = set[int](), set[int]()
    for block in region.blocks.values():
        made.update(block.args)
        for operation in block.operations:
            made.update(operation.outs)
            used.update(operation.ins, *(values for _, values in operation.next))
            used.update(*map(outer, operation.regions))
    return used - made

"""What was traced of a call: its launches, and of each launch program by program every access."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Step:
    """One access of one program, for a picture; elements are counted from the tensor's first.

    Attributes:
        kind: load, store or atomic.
        time, times: the how manyth time this line ran in the program, of how many.
        touched, strays, masked: runs of [first element, count]: inside of the tensor, outside, held back.
        stray, left: how many lanes strayed, and how many the mask held back.
        lanes: element of each lane of the first warp; None where it is masked.
        apart: elements between neighbouring lanes.
        sectors, needed: 32-byte sectors that are moved, and that would be enough.
    """

    kind: str
    line: int
    time: int
    times: int
    tensor: str
    touched: list[list[int]]
    strays: list[list[int]]
    stray: int
    masked: list[list[int]]
    left: int
    lanes: list[int | None]
    apart: int
    sectors: int
    needed: int


@dataclass
class Program:
    """One program of a launch: its place in the grid, its number, and what it did."""

    at: list[int]
    number: int
    steps: list[Step]


@dataclass(frozen=True)
class Remark:
    """What strikes the eye in a launch, and the access that it is about.

    Attributes:
        program, step: which one; -1 where it is not drawn.
    """

    says: str
    line: int
    program: int
    step: int


@dataclass(frozen=True)
class Drawn:
    """How a tensor lies in memory; strides in elements."""

    shape: list[int]
    stride: list[int]
    itemsize: int


@dataclass
class TracedLaunch:
    """One launch, program by program; `total` programs, of which some are drawn."""

    kernel: str
    line: int
    grid: list[int]
    total: int
    tensors: dict[str, Drawn]
    programs: list[Program]
    findings: list[Remark]

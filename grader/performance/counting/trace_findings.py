"""What a picture shows, in words: lanes that stray, elements that nobody stores or several programs do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from grader.kernel.tensor_regions import Region
from grader.performance.counting.access_trace import Remark, Step
from grader.tensor_storage import span

WASTED = 0.5  # of the sectors' bytes that a line asks for, below which it is remarked upon
SEVERAL = 4  # sectors of a line, below which nothing is wasted

Place = tuple[int, int]  # the number of a program that is drawn, and of its access


@dataclass
class Line:
    """What one line of the kernel did to one tensor, in all programs."""

    kind: str
    number: int
    tensor: str
    stray: int = 0
    apart: int = 0
    sectors: int = 0
    needed: int = 0
    place: Place = (-1, -1)

    def says(self) -> str:
        verb = {"load": "reads", "store": "stores", "atomic": "updates"}[self.kind]
        if self.stray:
            elements, them = ("1 element", "it") if self.stray == 1 else (f"{self.stray:,} elements", "them")
            return (
                f"Line {self.number} {verb} {elements} outside of {self.tensor}: no mask holds {them} back."
            )
        if self.apart > 1 and self.sectors >= SEVERAL and self.needed < WASTED * self.sectors:
            return (
                f"Line {self.number} {verb} {self.tensor} with neighbouring lanes {self.apart:,} elements "
                f"apart: {self.sectors:,} sectors are moved where {self.needed:,} would do."
            )
        return ""


@dataclass
class Output:
    """A tensor that the call stores to; `launch` was the last that did."""

    tensor: Any
    own: bool
    name: str = ""
    line: int = 0
    launch: int = 0

    def __post_init__(self) -> None:
        self.stored = np.zeros(span(self.tensor) // self.tensor.element_size(), bool)

    def left(self) -> tuple[int, int]:
        """Elements that were never stored, and all of them; gaps between a view's rows are not its own."""
        stored = torch.from_numpy(self.stored).as_strided(self.tensor.shape, self.tensor.stride())
        return int((~stored).sum()), stored.numel()


class Remarks:
    """Collects what the accesses of a launch add up to."""

    def __init__(self) -> None:
        self.outputs: dict[int, Output] = {}  # of the whole call, by address
        self.launches = 0

    def begin(self, tensors: dict[str, Any]) -> None:
        """A launch begins, on these tensors."""
        self.tensors = tensors
        self.launches += 1
        self.lines: dict[tuple[str, int, str], Line] = {}
        self.writers: dict[str, Any] = {}  # the last program that stored each element, from 1
        self.doubled: dict[str, tuple[int, int]] = {}  # elements, and the line

    def step(self, home: Region, step: Step, elements: Any, program: int, place: Place) -> None:
        """One access of one program, of these elements of `home`."""
        key = step.kind, step.line, home.name
        line = self.lines.setdefault(key, Line(*key))
        line.sectors, line.needed = line.sectors + step.sectors, line.needed + step.needed
        line.apart = max(line.apart, step.apart)
        if line.place == (-1, -1) or (step.stray and not line.stray):
            line.place = place
        line.stray += step.stray
        if step.kind != "load":
            self._store(home, step, elements, program + 1)

    def _store(self, home: Region, step: Step, elements: Any, program: int) -> None:
        tensor = self.tensors[home.name]
        output = self.outputs.setdefault(home.start, Output(tensor, home.own))
        output.name, output.line, output.launch = home.name, step.line, self.launches - 1
        output.stored[elements] = True
        if step.kind == "atomic":
            return
        last = self.writers.setdefault(home.name, np.zeros(output.stored.size, np.int64))
        others = int(((last[elements] != 0) & (last[elements] != program)).sum())
        if others:
            before, _ = self.doubled.get(home.name, (0, 0))
            self.doubled[home.name] = before + others, step.line
        last[elements] = program

    def end(self) -> list[Remark]:
        """What there is to say of the launch, the worst first."""
        found = []
        for line in sorted(self.lines.values(), key=lambda line: -line.stray):
            says, (program, step) = line.says(), line.place
            if says:
                found.append(Remark(says, line.number, program, step))
        for name, (count, number) in self.doubled.items():
            says = f"Line {number} stores {count:,} elements of {name} that another program has stored, too."
            found.append(Remark(says, number, -1, -1))
        return found

    def unwritten(self) -> Iterator[tuple[int, Remark]]:
        """Of the call's own tensors that it stored to, what it left out; and the launch to say it of."""
        for output in self.outputs.values():
            left, count = output.left()
            if left and output.own:
                says = f"{left:,} of {count:,} elements of {output.name} are stored by no program."
                yield output.launch, Remark(says, output.line, -1, -1)

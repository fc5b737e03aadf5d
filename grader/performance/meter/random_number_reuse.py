"""Do two programs of a launch draw the same random numbers? A mask starts over then, where one begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from triton.language import random

from grader.kernel.batch import Batch
from grader.kernel.evaluator import Step
from grader.kernel.ttir import Operation

FILE, PRODUCT = random.__file__, "tt.mulhiui"  # where a round of Philox stands, and what it begins with


@dataclass(frozen=True)
class Redrawn:
    """The last program of a launch draws what the first one draws.

    Attributes:
        kernel, programs: of that launch.
        line: of the draw.
    """

    kernel: str
    programs: int
    line: int


class Draws:
    """Follows what the last and the first program of each launch multiply in rounds of Philox, in that order.

    The first round multiplies words of the counter, and later ones what it and the key make of them: of two
    runs, all of it is alike, or next to nothing.
    """

    def __init__(self) -> None:
        self.kernel, self.programs, self.number = "", 0, -1
        self.steered = False  # integers were loaded, whose values no walk knows: they may be the counter
        self.of_last = self.of_first = np.empty(0, np.uint64)
        self.line = 0
        self._found: Redrawn | None = None

    def launch(self, kernel: str, programs: int) -> None:
        """A launch begins."""
        self._found = self.redrawn
        self.kernel, self.programs = kernel, programs
        self.of_last = self.of_first = np.empty(0, np.uint64)

    def program(self, number: int) -> None:
        """A program begins: 0 is the last of the grid, 1 the first."""
        self.number, self.steered = number, False

    def followed(self, step: Step, operation: Operation, line: int) -> Step:
        """A step that notes what it multiplies."""

        def noted(batch: Batch) -> None:
            step(batch)
            if self.number in (0, 1) and not self.steered:
                factors = np.concatenate([batch[slot].ravel().astype(np.uint64) for slot in operation.ins])
                self.line = line
                if self.number:
                    self.of_first = np.union1d(self.of_first, factors)
                else:
                    self.of_last = np.union1d(self.of_last, factors)

        return noted

    @property
    def redrawn(self) -> Redrawn | None:
        """The first launch of which that is so.

        A few runs alike may be those of lanes behind the end of a row, whose numbers are thrown away.
        """
        alike = 2 * len(np.intersect1d(self.of_last, self.of_first)) > len(self.of_first)
        return self._found or (Redrawn(self.kernel, self.programs, self.line) if alike else None)

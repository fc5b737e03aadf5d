"""Do two programs of a launch draw the same random numbers? A mask starts over then, where one begins."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from unittest import mock

import numpy as np
from triton.language import random

from grader.interpreter import whereabouts

WORDS = 6  # of a run of Philox: four of the counter, two of the key
Run = tuple[int, ...]


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
    """Follows the runs of Philox that the last and the first program of each launch ask for, in that order.

    Args:
        path: the learner's file.
    """

    def __init__(self, path: str) -> None:
        self.path, self.kernel, self.programs, self.number = path, "", 0, -1
        self.steered = False  # integers were loaded, whose values no walk knows: they may be the counter
        self.of_last: set[Run] = set()
        self.of_first: set[Run] = set()
        self.line = 0
        self._found: Redrawn | None = None

    def launch(self, kernel: str, programs: int) -> None:
        """A launch begins."""
        self._found = self.redrawn
        self.kernel, self.programs, self.of_last, self.of_first = kernel, programs, set(), set()

    def program(self, number: int) -> None:
        """A program begins: 0 is the last of the grid, 1 the first."""
        self.number, self.steered = number, False

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """While the block runs, every draw is noted."""
        stock = cast(Any, random).philox_impl

        def philox(*words: Any) -> Any:
            if self.number in (0, 1) and not self.steered:
                columns = np.broadcast_arrays(*(np.ravel(word.handle.data) for word in words[:WORDS]))
                self._note(set(zip(*(column.tolist() for column in columns), strict=True)))
            return stock(*words)

        with mock.patch.object(random, "philox_impl", philox):
            yield

    def _note(self, runs: set[Run]) -> None:
        mine = self.of_first if self.number else self.of_last
        mine |= runs
        self.line = whereabouts.line(self.path)

    @property
    def redrawn(self) -> Redrawn | None:
        """The first launch of which that is so.

        A few runs alike may be those of lanes behind the end of a row, whose numbers are thrown away.
        """
        alike = 2 * len(self.of_last & self.of_first) > len(self.of_first)
        return self._found or (Redrawn(self.kernel, self.programs, self.line) if alike else None)

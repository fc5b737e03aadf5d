"""Long loops cut short: the first and last steps run, and the steps between are counted by a few of them.

A loop of 16384 equal steps need not be walked to know what it moves. Pointers that are advanced by every step
stay behind where steps are left out; where they point differs then, how lanes lie to one another does not.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Iterator
from typing import Any

from grader.interpreter import whereabouts


class Loops:
    """The loops of the program that is running.

    Args:
        path: the learner's file.

    Attributes:
        WHOLE: loops of so many steps run in full.
        FIRST, LAST: steps that run of a longer one; at its end masks bite.
        weight: how many steps the one that runs stands for.
        step: a number of its own for every step of any loop.
        touched: bytes so far. Those of the steps that one stands for count once that is over: within it
            nothing lies further apart than it does.
        shortened: a loop of this program was cut short.
        trips: how often the compiled loop comes round, by the line of its `for`: as many steps as the kernel
            wants in one count once.
        strides: the step of loops that begin at the program's own number, and end behind the last program's.
    """

    WHOLE, FIRST, LAST = 8, 4, 2

    def __init__(self, path: str = "") -> None:
        self.path, self.running = path, False
        self.reset()

    def reset(self) -> None:
        """A program begins."""
        self.weight, self.step, self.touched, self.shortened = 1.0, 0, 0.0, False
        self.trips: dict[int, float] = {}
        self.strides: dict[int, int] = {}

    def shorter(self, *limits: Any, unrolled: int = 1) -> Any:
        """In the place of `range` in the learner's file, and of tl.range."""
        whole = builtins.range(*map(operator.index, limits))
        return self._walk(whole, unrolled) if self.running else whole

    def language_range(self, first: Any, stop: Any = None, step: Any = None, **options: Any) -> Any:
        """In the place of tl.range; of its options one alone says something here."""
        limits = [getattr(limit, "value", limit) for limit in (first, stop, step)]
        unrolled = options.get("loop_unroll_factor")
        unrolled = getattr(unrolled, "value", unrolled) or 1
        if limits[1] is None:
            return self.shorter(limits[0], unrolled=unrolled)
        return self.shorter(limits[0], limits[1], 1 if limits[2] is None else limits[2], unrolled=unrolled)

    def _walk(self, whole: range, unrolled: int) -> Iterator[int]:
        outer = self.weight
        line = whereabouts.line(self.path)
        self.trips[line] = self.trips.get(line, 0.0) + outer * len(whole) / unrolled
        grid = whereabouts.grid()
        if grid and whole.start == whereabouts.number() and whole.stop > math.prod(grid):
            self.strides[line] = whole.step
        many = len(whole) > self.WHOLE
        self.shortened |= many
        head = whole[: self.FIRST] if many else whole
        for index, value in enumerate(head):
            # The first step may differ (masks, the first of a running maximum): it stands for itself.
            stands_for = (len(whole) - self.LAST - 1) / (len(head) - 1) if many and index else 1.0
            self.weight = outer * stands_for
            self.step += 1
            begin = self.touched
            yield value
            self.touched += (stands_for - 1) * (self.touched - begin)
        for value in whole[-self.LAST :] if many else ():
            self.weight = outer
            self.step += 1
            yield value
        self.weight = outer

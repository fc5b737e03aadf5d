"""Long loops cut short: the first and last steps run, and the steps between are counted by a few of them.

A loop of 16384 equal steps need not be walked to know what it moves. Pointers that are advanced by every step
stay behind where steps are left out; where they point differs then, how lanes lie to one another does not.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from typing import Any


class Loops:
    """The loops of the program that is running.

    Attributes:
        WHOLE: loops of so many steps run in full.
        FIRST, LAST: steps that run of a longer one; at its end masks bite.
        weight: how many steps the one that runs stands for.
        step: a number of its own for every step of any loop.
        touched: bytes so far. Those of the steps that one stands for count once that is over: within it
            nothing lies further apart than it does.
        shortened: a loop of this program was cut short.
    """

    WHOLE, FIRST, LAST = 8, 4, 2

    def __init__(self) -> None:
        self.running = False
        self.reset()

    def reset(self) -> None:
        """A program begins."""
        self.weight, self.step, self.touched, self.shortened = 1.0, 0, 0.0, False

    def shorter(self, *limits: Any) -> Any:
        """In the place of `range` in the learner's file, and of tl.range."""
        whole = builtins.range(*map(operator.index, limits))
        return self._walk(whole) if self.running else whole

    def language_range(self, first: Any, stop: Any = None, step: Any = None, **_: Any) -> Any:
        """In the place of tl.range, whose options say nothing here."""
        limits = [getattr(limit, "value", limit) for limit in (first, stop, step)]
        if limits[1] is None:
            return self.shorter(limits[0])
        return self.shorter(limits[0], limits[1], 1 if limits[2] is None else limits[2])

    def _walk(self, whole: range) -> Iterator[int]:
        outer = self.weight
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

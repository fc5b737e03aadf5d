"""Long loops cut short: the first and last steps run, and the steps between are counted by a few of them.

A loop of 16384 equal steps need not be walked to know what it moves. Pointers that are advanced by every step
stay behind where steps are left out; where they point differs then, how lanes lie to one another does not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock


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
        trips: how often the compiled loop comes round, by the line where it begins: as many steps as the
            kernel wants in one count once.
        rounds: steps of loops that begin at the program's own number, and go on by as many as there are
            programs: one tile each.
        stores: how often something was stored.
        late: the last steps of a loop that was cut short did so, and none of those that stand for others: how
            often is not known then.
        where: the share of such a loop that is over when it begins.
    """

    WHOLE, FIRST, LAST = 8, 4, 2

    def __init__(self) -> None:
        self.where = 0.0
        self.reset()

    def reset(self) -> None:
        """A program begins."""
        self.weight, self.step, self.touched, self.shortened = 1.0, 0, 0.0, False
        self.trips: dict[int, float] = {}
        self.rounds = 0.0
        self.stores, self.late = 0, False
        self._waits: list[bool] = []  # of the loops that are running: whether it is a `while`

    @property
    def waits(self) -> bool:
        """Whether the innermost loop is a `while`: Triton asks for what a `for` loads some steps ahead."""
        return bool(self._waits) and self._waits[-1]

    @contextlib.contextmanager
    def shorter_still(self) -> Iterator[None]:
        """While the block runs, as few steps run as tell what one of many would do."""
        with mock.patch.multiple(self, WHOLE=3, FIRST=2, LAST=1):
            yield

    def walk(
        self, whole: range, unrolled: int, line: int, waits: bool = False, tiles: bool = False
    ) -> Iterator[int]:
        """Those steps that run.

        Args:
            unrolled: how many of them one turn of the compiled loop makes.
            line: where the loop stands.
            waits: whether it is a `while`.
            tiles: whether it takes every so-many-th tile, as many as there are programs.
        """
        outer = self.weight
        self.trips[line] = self.trips.get(line, 0.0) + outer * len(whole) / unrolled
        if tiles:
            self.rounds += outer * len(whole)
            whole = whole[int(self.where * len(whole)) :]
        self._waits.append(waits)
        many = len(whole) > self.WHOLE
        self.shortened |= many
        head = whole[: self.FIRST] if many else whole
        stored = self.stores
        for index, value in enumerate(head):
            # The first step may differ (masks, the first of a running maximum): it stands for itself.
            stands_for = (len(whole) - self.LAST - 1) / (len(head) - 1) if many and index else 1.0
            self.weight = outer * stands_for
            self.step += 1
            begin = self.touched
            stored = self.stores if index < 2 else stored
            yield value
            self.touched += (stands_for - 1) * (self.touched - begin)
        between, last = self.stores > stored, self.stores
        for value in whole[-self.LAST :] if many else ():
            self.weight = outer
            self.step += 1
            yield value
        self.late |= many and not between and self.stores > last
        self._waits.pop()
        self.weight = outer

    def endless(self, line: int) -> Iterator[int]:
        """In the place of a `while` that does not count, turn by turn until somebody ends it."""
        self._waits.append(True)
        try:
            while True:
                self.step += 1
                yield 0
                self.trips[line] = self.trips.get(line, 0.0) + self.weight
        finally:
            self._waits.pop()

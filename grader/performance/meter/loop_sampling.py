"""Long loops cut short: the first and last steps run, and the steps between are counted by a few of them.

A loop of 16384 equal steps need not be walked to know what it moves. Pointers that are advanced by every step
stay behind where steps are left out; where they point differs then, how lanes lie to one another does not.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from grader.kernel import location


class Loops:
    """The loops of the program that is running.

    Attributes:
        WHOLE: loops of so many steps run in full.
        FIRST, LAST: steps that run of a longer one; at its end masks bite.
        SURE, BETWEEN: turns of a `while` that show how far each moves it, and those that then stand for all
            but the last.
        weight: how many steps the one that runs stands for.
        step: a number of its own for every step of any loop.
        touched: bytes so far. Those of the steps that one stands for count once that is over: within it
            nothing lies further apart than it does.
        shortened: a loop of this program was cut short.
        trips: how often the compiled loop comes round, by the line where it begins: as many steps as the
            kernel wants in one count once.
        strides: the step of loops that begin at the program's own number, and end behind the last program's.
        rounds: steps of those of them that go on by as many as there are programs: one tile each.
        stores: how often something was stored.
        late: the last steps of a loop that was cut short did so, and none of those that stand for others: how
            often is not known then.
        where: the share of such a loop that is over when it begins.
    """

    WHOLE, FIRST, LAST = 8, 4, 2
    SURE, BETWEEN = 3, 3

    def __init__(self) -> None:
        self.where = 0.0
        self.reset()

    def reset(self) -> None:
        """A program begins."""
        self.weight, self.step, self.touched, self.shortened = 1.0, 0, 0.0, False
        self.trips: dict[int, float] = {}
        self.strides: dict[int, int] = {}
        self.rounds, self._own = 0.0, False
        self.stores, self.late = 0, False
        self._waits: list[bool] = []  # of the loops that are running: whether it is a `while`
        self._leaps: list[int] = []  # of the `while`s that are running: how many steps this turn moves it

    @property
    def waits(self) -> bool:
        """Whether the innermost loop is a `while`: Triton asks for what a `for` loads some steps ahead."""
        return bool(self._waits) and self._waits[-1]

    @contextlib.contextmanager
    def shorter_still(self) -> Iterator[None]:
        """While the block runs, as few steps run as tell what one of many would do."""
        with mock.patch.multiple(self, WHOLE=3, FIRST=2, LAST=1, BETWEEN=1):
            yield

    @contextlib.contextmanager
    def entire(self) -> Iterator[None]:
        """While the block runs, all steps run."""
        with mock.patch.multiple(self, WHOLE=sys.maxsize, BETWEEN=sys.maxsize):
            yield

    def walk(self, whole: range, unrolled: int, line: int) -> Iterator[int]:
        """Those steps that run.

        Args:
            unrolled: how many of them one turn of the compiled loop makes.
            line: where the loop stands.
        """
        outer = self.weight
        self.trips[line] = self.trips.get(line, 0.0) + outer * len(whole) / unrolled
        if self._of_tiles(whole, line):
            self.rounds += outer * len(whole)
            whole = whole[self._over(whole) :]
        self._waits.append(False)
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

    def _of_tiles(self, whole: range, line: int) -> bool:
        """Whether a loop takes every so-many-th tile, as many as there are programs."""
        grid = location.grid()
        programs = math.prod(grid)
        if not grid or whole.start != location.number() or whole.stop <= programs:
            return False
        self.strides[line] = whole.step
        return whole.step == programs

    def _over(self, whole: range) -> int:
        return int(self.where * len(whole))

    def begun(self, at: int, stop: int, step: int, line: int) -> int:
        """Where a `while` begins that goes on from `at` by `step` as long as it is less than `stop`."""
        whole = range(at, stop, step or 1)
        self._own = step != 0 and self._of_tiles(whole, line)
        return at + step * self._over(whole) if self._own else at

    def turns(
        self,
        test: Callable[[], bool],
        line: int,
        sides: Callable[[], tuple[int, int]] | None = None,
        word: str = "",
    ) -> Iterator[None]:
        """In the place of a `while`.

        Args:
            test: what it asks before each turn.
            line: where it stands.
            sides: of one that counts, what its test compares; a turn moves one of them.
            word: how: <, <=, > or >=.
        """
        outer = self.weight
        own, self._own = self._own, False
        apart, index, whole, stored = [_apart(sides)], 0, 0, [0, 0, 0]
        self._leaps.append(1)
        self._waits.append(True)
        while test():
            many = whole > self.SURE + self.BETWEEN + self.LAST
            stands_for, behind = 1.0, self.SURE + self.BETWEEN - 1
            if many and index <= behind:
                stands_for = (whole - self.SURE - self.LAST) / self.BETWEEN
            if many and index == behind:
                self._leaps[-1], self.shortened = whole - self.LAST - index, True
            self.weight = outer * stands_for
            self.step += 1
            self.trips[line] = self.trips.get(line, 0.0) + self.weight
            self.rounds += own * self.weight
            begin, before = self.touched, self.stores
            yield
            stored[(index >= self.SURE) + (many and index > behind)] += self.stores - before
            self.touched += (stands_for - 1) * (self.touched - begin)
            self._leaps[-1], index = 1, index + 1
            if index <= self.SURE:
                apart.append(_apart(sides))
            if index == self.SURE:
                whole = _whole(apart, word)
        _, between, last = stored
        self.late |= not between and last > 0
        self._leaps.pop()
        self._waits.pop()
        self.weight = outer

    def moved(self, step: Any) -> Any:
        """By how much this turn moves what its `while` asks for: by `step`, or past the turns left out."""
        return step if self._leaps[-1] == 1 else step * self._leaps[-1]


def _apart(sides: Callable[[], tuple[int, int]] | None) -> int | None:
    """How far apart two integers are; None of a loop that does not count."""
    return operator.sub(*sides()) if sides else None


def _whole(apart: Sequence[int | None], word: str) -> int:
    """How many turns a loop takes whose sides are so far apart before its first ones; 0 where nobody knows.

    Args:
        word: which ends it once it holds no more.
    """
    known = [distance for distance in apart if distance is not None]
    steps = {after - before for before, after in itertools.pairwise(known)}
    if len(known) < len(apart) or len(steps) != 1:
        return 0
    first, step = known[0], steps.pop()
    if word[0] == "<":
        first, step = -first, -step
    if step >= 0:
        return 0
    return max(first // -step + 1 if "=" in word else -(first // step), 0)

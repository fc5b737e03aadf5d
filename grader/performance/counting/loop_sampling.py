"""Long loops cut short: the first and last steps run, and the steps between are counted by a few of them.

A loop of 16384 equal steps need not be walked to know what it moves. Pointers that are advanced by every step
stay behind where steps are left out; where they point differs then, how lanes lie to one another does not.
"""

from __future__ import annotations

import contextlib
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from grader.kernel.batch import Batch
from grader.kernel.evaluator import Machine
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Operation

LOOKED = 3  # values of what a `while` carries, by which it is known how they go on
MOST = 1 << 30  # turns


class Loops:
    """The loops of the program that is running.

    Attributes:
        WHOLE, TILES: loops of so many steps run in full; those whose every step is a tile.
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

    WHOLE, TILES, FIRST, LAST = 16, 8, 4, 2

    def __init__(self) -> None:
        self.where = 0.0
        self.reset()

    def reset(self) -> None:
        """A program begins."""
        self.weight, self.step, self.touched, self.shortened = 1.0, 0, 0.0, False
        self.trips: dict[int, float] = {}
        self.rounds = 0.0
        self.stores, self.late = 0, False

    @contextlib.contextmanager
    def shorter_still(self) -> Iterator[None]:
        """While the block runs, as few steps run as tell what one of many would do."""
        with mock.patch.multiple(self, WHOLE=3, FIRST=2, LAST=1):
            yield

    def walk(self, whole: range, unrolled: int, line: int, tiles: bool = False) -> Iterator[int]:
        """Those steps that run.

        Args:
            unrolled: how many of them one turn of the compiled loop makes.
            line: where the loop stands.
            tiles: whether it takes every so-many-th tile, as many as there are programs.
        """
        outer = self.weight
        self.trips[line] = self.trips.get(line, 0.0) + outer * len(whole) / unrolled
        if tiles:
            self.rounds += outer * len(whole)
            whole = whole[int(self.where * len(whole)) :]
        many = len(whole) > (min(self.TILES, self.WHOLE) if tiles else self.WHOLE)
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
        self.weight = outer

    def turn(self, line: int) -> None:
        """One of a `while`, all of whose turns run."""
        self.step += 1
        self.trips[line] = self.trips.get(line, 0.0) + self.weight


def sampled_loop(machine: Any, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.for."""
    body, line = operation.regions[0].body, machine.places.site(operation.place, []).line
    variable, *carried = body.args
    factor = re.search(r"tt\.loop_unroll_factor = (\d+)", operation.text)
    unrolled = int(factor[1]) if factor else 1

    def run(batch: Batch) -> list[Array]:
        first, last, step, *values = (batch[slot] for slot in operation.ins)
        whole = range(int(first[0]), int(last[0]), int(step[0]))
        tiles = whole.start == batch.programs[0] and whole.stop > whole.step == math.prod(batch.grid)
        for value in machine.loops.walk(whole, unrolled, line, tiles):
            batch[variable] = np.array([value], first.dtype)
            for slot, each in zip(carried, values, strict=True):
                batch[slot] = each
            values = machine.steps(body, batch)
        return values

    return run


def sampled_while(machine: Any, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.while: once two turns moved each number by as much, the others are those of a `for`."""
    before, after = (region.body for region in operation.regions)
    line, loops = machine.places.site(operation.place, []).line, machine.loops
    # What an atomic operation gives another program may take as well: a queue.
    queue = any(one.name == "tt.atomic_rmw" and machine.used & {*one.outs} for one in after.operations)
    plain = all(one.name.startswith(("arith.", "tt.get_")) for one in before.operations[:-1])

    def asked(batch: Batch, values: list[Array]) -> list[Array]:
        _fill(batch, before.args, values)
        return Machine.steps(machine, before, batch)

    def turned(batch: Batch, handed: list[Array]) -> list[Array]:
        _fill(batch, after.args, handed)
        return list(machine.steps(after, batch))

    def run(batch: Batch) -> list[Array]:
        known = [[batch[slot] for slot in operation.ins]]
        while True:
            goes_on, *handed = asked(batch, known[-1])
            if not goes_on[0]:
                return handed
            loops.turn(line)
            known.append(turned(batch, handed))
            if plain and not queue and len(known) == LOOKED:
                whole = range(_turns(partial(asked, batch), known))
                for turn in loops.walk(whole, 1, line):
                    _, *handed = asked(batch, _moved(known, turn))
                    turned(batch, handed)
                if whole:
                    return asked(batch, _moved(known, len(whole)))[1:]

    return run


def _fill(batch: Batch, slots: list[int], values: list[Array]) -> None:
    for slot, value in zip(slots, values, strict=True):
        batch[slot] = value


def _moved(known: list[list[Array]], turns: int) -> list[Array]:
    """The numbers of a `while` after so many more turns; what else it carries stays as it is."""
    pairs = zip(*known[-2:], strict=True)
    return [new + turns * (new - old) if _counts(new) else new for old, new in pairs]


def _counts(value: Array) -> bool:
    return bool(value.ndim == 1 and value.dtype.kind == "i")


def _turns(asked: Callable[[list[Array]], list[Array]], known: list[list[Array]]) -> int:
    """How many more turns a `while` takes; 0 where nobody knows."""
    triples = [three for three in zip(*known[-3:], strict=True) if _counts(three[0])]
    if any(two - one != three - two for one, two, three in triples):
        return 0

    def over(turn: int) -> bool:
        return not asked(_moved(known, turn))[0][0]

    most = 1
    while not over(most) and most < MOST:
        most *= 2  # far beyond its end a number wraps, and the loop would seem to go on
    return bisect_left(range(most), True, key=over) if most < MOST else 0

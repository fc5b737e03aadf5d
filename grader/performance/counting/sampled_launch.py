"""Runs a few programs of a launch instead of all of them, and says what all of them would do."""

from __future__ import annotations

import contextlib
import copy
import math
import random
from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import Any

from grader.datasheets import Gpu
from grader.kernel.evaluator import Machine
from grader.kernel.launch_hook import Launching, handed_to
from grader.kernel.tensor_regions import regions_of
from grader.performance.compiler.recipe import written
from grader.performance.counting.access_counter import Counter, Cut, Tally
from grader.performance.counting.counted_program import Counted
from grader.performance.counting.counts import LaunchCounts
from grader.performance.counting.extrapolate import launch_of
from grader.performance.counting.l2_reuse import fetched

FEW, MORE, MANY = 4, 10, 160  # programs; more where they are unlike each other, many where some do nothing
ALIKE, IDLE = 0.2, 0.1
EVEN = 1.02  # times the mean of all programs' products for a tile that one may do, where they go in step
AGAIN = 1.5  # times its bytes that a tensor is loaded, from which on it matters who shares them
GOLDEN, HANDFUL = 0.6180339887, 6
# Work, as access_counter.py has it: of one program before it is cut, of one launch from which on four
# programs must do, and of a whole call; what comes after that is cut early.
PROGRAM, ENOUGH, CALL, LITTLE = 8000, 4000, 20000, 300


class Meter:
    """Counts the launches of one call.

    Args:
        counter: that every access goes to.
        handed: the arguments of the call by name.
        gpu: whose waves of programs are looked at; None where none are.
        made: addresses of the storages that torch made in the call, growing; None where nobody asks.
    """

    def __init__(
        self,
        counter: Counter,
        handed: dict[str, Any],
        gpu: Gpu | None = None,
        made: Set[int] | None = None,
    ) -> None:
        self.made = made
        self.counter, self.handed, self.gpu = counter, handed, gpu
        self.kernels: dict[Machine, Counted] = {}
        self.launches: list[LaunchCounts] = []
        self.spent = 0.0
        self.few = FEW
        self.paused = False

    def installed(self) -> contextlib.AbstractContextManager[None]:
        """While the block runs, launches are counted instead of executed."""
        return handed_to(self._count)

    @contextlib.contextmanager
    def trying(self, few: int, spent: float) -> Iterator[None]:
        """While the block runs, so few programs and steps of each launch run, as one choice of several.

        Args:
            spent: the work that other choices took; what is counted for good has its own.
        """
        before = self.few, self.paused, self.spent
        self.few, self.paused, self.spent = few, False, spent
        try:
            with self.counter.loops.shorter_still():
                yield
        finally:
            self.few, self.paused, self.spent = before

    def _count(self, launching: Launching) -> None:
        """Count one launch by some of its programs."""
        grid, named = launching.grid(), launching.named()
        if not math.prod(grid):
            return
        ready = launching.prepare(self.counter.path)
        if ready.machine not in self.kernels:
            self.kernels[ready.machine] = Counted(self.counter, ready.machine.program)
        kernel = self.kernels[ready.machine]
        program = partial(kernel.one, ready, grid, self.counter)
        memory = regions_of(named, self.handed)
        self.counter.launch(memory, whole=math.prod(grid) <= self.few)
        chosen, tallies = self._run(program, math.prod(grid))
        if not self.paused:
            stand_for = weights(chosen, math.prod(grid))
            launch = launch_of(launching.kernel, grid, kernel.flow, memory, tallies, stand_for)
            if self.made is not None:
                launch.elsewhere = [one.name for one in memory if one.own and one.low not in self.made]
            launch.recipe = written(launching.kernel, named, launching.options)
            self.launches.append(launch)
            if launch.dots and self.gpu and self.few == FEW:
                self._waves(launch, program, self.gpu)

    def _waves(self, launch: LaunchCounts, program: Callable[[int], None], gpu: Gpu) -> None:
        """What a launch fetches anew of tensors that it loads often and that are too large for L2.

        Only of programs that do the same work: those of a causal kernel begin their loops at different tiles.
        """
        if launch.uneven > EVEN:
            return
        large = {
            name: AGAIN * extent.bytes for name, extent in launch.tensors.items() if extent.bytes > gpu.cache
        }
        if not any(site.useful > large.get(site.tensor, math.inf) for site in launch.sites):
            return
        spent, self.counter.brief = self.spent, True
        found = fetched(launch, gpu, self.counter, partial(self._tally, program))
        self.spent, self.counter.brief = spent, False
        for name, count in found.items():
            launch.tensors[name].fetched = count

    def _run(self, program: Callable[[int], None], count: int) -> tuple[list[int], list[Tally]]:
        """The programs that were run, and what each did."""
        done: dict[int, Tally] = {}
        seen = 0.0
        for wanted in (self.few, MORE, MANY):
            chosen = programs(count, min(wanted, count))
            for number in chosen:
                if number not in done and (len(done) % 2 or len(done) < FEW - 1 or seen < ENOUGH):
                    done[number] = self._tally(program, number)
                    seen += self.counter.work
            if self.few < FEW or seen > ENOUGH or _enough(list(done.values()), wanted):
                break
        order = sorted(done)
        return order, [done[number] for number in order]

    def _tally(self, program: Callable[[int], None], number: int) -> Tally:
        self.counter.begin(max(min(PROGRAM, CALL - self.spent), LITTLE))
        try:
            program(number)
        except Cut:
            self.counter.tally.cut = True
        except Exception:
            self.counter.tally.cut = True
            if not self.counter.loops.shortened:  # which may leave a pointer behind, that strays
                raise
        self.spent += self.counter.work
        self.counter.tally.cut |= self.counter.loops.late
        self.counter.tally.loops = copy.copy(self.counter.loops)
        return self.counter.tally


def _enough(tallies: list[Tally], wanted: int) -> bool:
    """Whether these stand for all: a few that ask for about as many bytes, or more of which none is idle."""
    asked = [tally.asked for tally in tallies[:-1]] or [0.0]
    if wanted < MORE:
        return max(asked) <= (1 + ALIKE) * min(asked)
    return min(asked) > IDLE * max(asked)


def programs(count: int, wanted: int) -> list[int]:
    """The first, the last, and others spread over the grid so that they share no row or column of tiles.

    They come in pairs, each as far from the start as the other from the end: work that grows along an axis of
    the grid, as a causal kernel's does, is that of the whole on average then. However many are wanted, the
    first so many of them spread as well. Beyond a handful they are drawn: an even spacing would fall into
    step with whatever repeats in the grid.
    """
    if count <= wanted:
        return list(range(count))
    drawn = random.Random(count)
    shares = [GOLDEN * turn % 1 if turn < HANDFUL else drawn.random() for turn in range(1, wanted // 2)]
    between = [1 + int((count - 2) * share) for share in shares]
    pairs = [(number, count - 1 - number) for number in [0, *between]]
    return list(dict.fromkeys(number for pair in pairs for number in pair))


def weights(chosen: list[int], count: int) -> list[float]:
    """How many programs each of the chosen, in order, stands for: the first and the last for themselves."""
    if len(chosen) == count or len(chosen) < 3:
        return [count / len(chosen)] * len(chosen)
    return [1.0, *[(count - 2) / (len(chosen) - 2)] * (len(chosen) - 2), 1.0]

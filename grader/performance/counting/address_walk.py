"""Programs of a huge launch walked: where they load and store, on tensors without memory, and no value.

The ends of the grid are walked, its corners, and what lies around the 2³¹-th element of its tensors: an
offset that passes 2³¹ in int32 turns negative there, and its address lies outside of every tensor.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from triton.language import random

from grader.kernel.access import Access
from grader.kernel.batch import Batch
from grader.kernel.evaluator import Machine, Step
from grader.kernel.launch_hook import Launching, Place, handed_to
from grader.kernel.tensor_regions import Region, regions_of
from grader.kernel.ttir import Operation, Program
from grader.operator_memory_effects import tensors_in
from grader.performance.counting.access_counter import LANES, Cut
from grader.performance.counting.loop_sampling import Loops
from grader.performance.counting.sampled_launch import programs
from grader.performance.counting.sampled_program import Sampled
from grader.performance.counting.sampling_artifacts import Addresses
from grader.tensor_storage import span

APART = 1 << 37  # bytes between two tensors: 2³² elements of 8 bytes lie within, so no tensor is mistaken
TURN = 1 << 31  # elements that an int32 counts
WRAPS: dict[str, Any] = {"arith.muli": np.multiply, "arith.addi": np.add}
SPREAD, LEAST = 4, 3  # programs all over the grid, and of a launch that comes late in a call
PROGRAM, CALL = 60, 120  # accesses of a program before it is cut; of a call before its launches are late


class Walked(Sampled):
    """One kernel, ready to be walked."""

    def __init__(self, walk: Walk, program: Program) -> None:
        self.walk = walk
        super().__init__(program, walk.path, walk.loops)

    def _made(self, operation: Operation) -> Step:
        step, whole = super()._made(operation), WRAPS.get(operation.name)
        file, _ = next(self.places.lines(operation.place), ("", 0))
        line, ins, outs = self.places.site(operation.place, []).line, operation.ins, operation.outs
        # What wraps in random numbers is meant to.
        if not whole or operation.gives[-1].element != "i32" or file == random.__file__:
            return step

        def followed(batch: Batch) -> None:
            step(batch)
            if (whole(*(batch[slot].astype(np.int64) for slot in ins)) != batch[outs[0]]).any():
                self.walk.turned.add(line)

        return followed


class Walk(Addresses):
    """Walks the launches of one call.

    Args:
        path: the learner's file.
        handed: the arguments of the call by name.

    Attributes:
        turned: lines on which a number of the running program passed 2³¹ in int32.
    """

    def __init__(self, path: str, handed: dict[str, Any]) -> None:
        super().__init__(path)
        self.path, self.handed, self.loops = path, handed, Loops()
        self.turned = set[int]()
        self.kernels: dict[Machine, Walked] = {}
        self.paused = False  # by whoever makes the call; what is not to be counted is walked all the same
        self.spent = self.left = 0.0

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """While the block runs, launches are walked instead of executed."""
        with handed_to(self._walk), self.loops.shorter_still():
            yield

    def access(self, access: Access, line: int) -> Region | None:
        """Look at the addresses.

        Raises:
            Cut: this program has done enough.
            OutOfBounds: a lane lies outside of every tensor.
        """
        self.left -= 1 + access.addresses.size / LANES
        if self.left < 0:
            raise Cut
        return self.home(access, self.turned)

    def _walk(self, launching: Launching) -> None:
        grid, named = launching.grid(), launching.named()
        ready = launching.prepare(self.path)
        if ready.machine not in self.kernels:
            self.kernels[ready.machine] = Walked(self, ready.machine.program)
        program = partial(self.kernels[ready.machine].one, ready, grid, self)
        lengths = {span(tensor) // tensor.element_size() for tensor in tensors_in([*named.values()])}
        self.launch(regions_of(named, self.handed), whole=math.prod(grid) <= LEAST)
        for turn, number in enumerate(telling(grid, lengths)):
            if turn < LEAST or self.spent < CALL:
                self._follow(program, number)

    def _follow(self, program: Callable[[int], None], number: int) -> None:
        """Run one program.

        Where a loop is cut short a pointer may be left behind, and what it strays to is not told.

        Raises:
            OutOfBounds: it strayed.
        """
        bounds, self.left = self.bounds, PROGRAM
        noted = bounds.overruns.copy()
        self.program()
        self.loops.reset()
        self.turned.clear()
        try:
            program(number)
        except Cut:
            pass
        except Exception as error:
            if not self.loops.shortened or any(overrun.wrapped for overrun in bounds.report()):
                raise error
        finally:
            self.spent += PROGRAM - self.left
            if self.loops.shortened:
                bounds.overruns = noted | {at: one for at, one in bounds.overruns.items() if one.wrapped}


def telling(grid: Place, lengths: set[int]) -> list[int]:
    """The numbers of the programs that tell most, in that order: the last, the first, those where a tensor's
    2³¹-th element may lie, the corners of the grid, and some between.

    Args:
        lengths: of the tensors, in elements.
    """
    count, (x, y, z) = math.prod(grid), grid
    if not count:
        return []
    numbers = [count - 1, 0]
    for length in sorted(length for length in lengths if length > TURN):
        around = TURN * count // length
        numbers += [number for number in (around, around - 1, around + 1) if 0 < number < count]
    numbers += [x - 1, (y - 1) * x, (z - 1) * x * y, *programs(count, SPREAD)]
    return list(dict.fromkeys(numbers))

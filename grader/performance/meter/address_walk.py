"""Programs of a huge launch walked: where they load and store, on tensors without memory, and no value.

The ends of the grid are walked, its corners, and what lies around the 2³¹-th element of its tensors: an
offset that passes 2³¹ in int32 turns negative there, and its address lies outside of every tensor.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from grader.kernel.access import Access
from grader.kernel.batch import Batch
from grader.kernel.evaluator import Step
from grader.kernel.launch_hook import Launching, Place, handed_to
from grader.kernel.tensor_regions import regions_of
from grader.kernel.ttir import Operation, Program
from grader.performance.meter import int32_overflow, random_number_reuse
from grader.performance.meter.access_counter import LANES, Cut
from grader.performance.meter.fake_tensors import LARGE
from grader.performance.meter.loop_sampling import Loops
from grader.performance.meter.program_choice import place, programs
from grader.performance.meter.sampled_program import Kernels, Sampled
from grader.performance.meter.stray_addresses import Addresses, Astray, floats
from grader.performance.meter.unread_partials import Handing
from grader.tensor_storage import span
from grader.torch_operators import tensors_in

APART = 1 << 37  # bytes between two tensors: 2³² elements of 8 bytes lie within, so no tensor is mistaken
TURN = 1 << 31  # elements that an int32 counts
SPREAD, LEAST = 4, 3  # programs all over the grid, and of a launch that comes late in a call
PROGRAM, CALL = 60, 120  # accesses of a program before it is cut; of a call before its launches are late
CAPPED = 1 << 14  # programs of a launch whose number a huge size does not raise
STAGE, READERS = 1024, 3000.0  # programs of a launch that reads partial results, and accesses of all of them


class Walked(Sampled):
    """One kernel, ready to be walked."""

    def __init__(self, walk: Walk, program: Program) -> None:
        self.walk = walk
        super().__init__(program, walk.path, walk, walk.loops)

    def asked(self, batch: Batch, operation: Operation, access: Access) -> bool:
        spots = [spot[1:] for spot in self.places.spots(operation.place) if spot.file == self.walk.path]
        self.walk.met[f"{operation.name} {spots}"] += 1
        return super().asked(batch, operation, access)

    def _made(self, operation: Operation) -> Step:
        step, line = super()._made(operation), self.places.site(operation.place, []).line
        spot = next(self.places.spots(operation.place), None)
        if spot and spot.file == random_number_reuse.FILE:  # all that wraps there is meant to
            drawn = operation.name == random_number_reuse.PRODUCT
            return self.walk.draws.followed(step, operation, line) if drawn else step
        if int32_overflow.turns(operation):
            return int32_overflow.followed(step, operation, line, self.walk.turned)
        return step


class Walk:
    """Walks the launches of one call.

    Args:
        path: the learner's file.
        handed: the arguments of the call by name.

    Attributes:
        launches: how many there were.
        met: how often the running program came to an access.
        turned: lines on which a number of it passed 2³¹ in int32.
        again: places to which a program came more than once, of launches of few programs.
        effort: programs times the turns of their loops, of all launches.
    """

    def __init__(self, path: str, handed: dict[str, Any]) -> None:
        self.path, self.handed, self.loops = path, handed, Loops()
        self.addresses, self.handing, self.draws = Addresses(path), Handing(), random_number_reuse.Draws()
        self.kernels = Kernels(path, partial(Walked, self))
        self.launches, self.effort = 0, 0.0
        self.met, self.turned, self.again = Counter[str](), set[int](), set[str]()
        self.paused = False  # by whoever makes the call; what is not to be counted is walked all the same
        self.spent = self.left = 0.0

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """While the block runs, launches are walked instead of executed."""
        with handed_to(self._walk), self.loops.shorter_still():
            yield

    def allows(self, access: Access) -> bool:
        """Look at the addresses. What steers a kernel is loaded and stored: integers in small tensors.

        Raises:
            Cut: this program has done enough.
            OutOfBounds: a lane lies outside of every tensor.
        """
        self.left -= 1 + access.addresses.size / LANES
        if self.left < 0:
            raise Cut
        try:
            home = self.addresses.home(access, self.turned)
        except Astray:
            return False
        if home is not None:
            self.handing.access(home, access)
        self.draws.steered |= access.kind == "load" and access.dtype.kind in "iu" and access.size >= 4
        return home is not None and home.stop - home.start < LARGE and not floats(access.dtype)

    def _walk(self, launching: Launching) -> None:
        self.launches += 1
        grid, named = launching.grid(), launching.named()
        _, program = self.kernels.of(launching, grid)
        lengths = {span(tensor) // tensor.element_size() for tensor in tensors_in([*named.values()])}
        count = math.prod(grid)
        self.addresses.launch(regions_of(named, self.handed), whole=count <= LEAST)
        self.handing.launch(launching.kernel.__name__, count)
        self.draws.launch(launching.kernel.__name__, count)
        turns = 1.0
        for number, at in enumerate(telling(grid, lengths)):
            if number < LEAST or self.spent < CALL:
                self.addresses.program()
                self.handing.program(last=not number)
                self.draws.program(number)
                self.spent += self._follow(program, at, PROGRAM)
                turns = max([turns, *self.loops.trips.values(), *self.met.values()])
                if count <= CAPPED:
                    self.again |= {place for place, times in self.met.items() if times > 1}
        self.effort += count * turns
        if self.handing.missing():
            self._look_for_readers(program, grid)

    def _look_for_readers(self, program: Callable[[Place], None], grid: Place) -> None:
        """Follow program by program, loops whole, until one reads what was handed on.

        What strays here does so for values that no walk knows. One of very many programs is no second stage.
        """
        room, count = READERS, math.prod(grid)
        self.handing.program(last=False)
        try:
            with self.loops.entire():
                for number in reversed(range(count if count <= STAGE else 0)):
                    if room > 0 and self.handing.missing():
                        self.addresses.program()
                        room -= self._follow(program, place(number, grid), room)
        except Exception:
            room = 0.0
        self.handing.ended(whole=room > 0 and count <= STAGE)

    def _follow(self, program: Callable[[Place], None], at: Place, room: float) -> float:
        """Run one program, cut after `room` accesses; how many it made.

        Where a loop is cut short a pointer may be left behind, and what it strays to is not told.

        Raises:
            OutOfBounds: it strayed.
        """
        noted = self.addresses.bounds.overruns.copy()
        self.loops.reset()
        self.met.clear()
        self.turned.clear()
        self.left = room
        try:
            program(at)
        except Cut:
            pass
        except Exception as error:
            strayed = any(overrun.wrapped for overrun in self.addresses.bounds.report())
            if strayed or not self.loops.shortened:
                raise error
        finally:
            if self.loops.shortened:
                found = self.addresses.bounds.overruns
                self.addresses.bounds.overruns = noted | {at: one for at, one in found.items() if one.wrapped}
        return room - self.left


def telling(grid: Place, lengths: set[int]) -> list[Place]:
    """The programs that tell most, in that order: the last, the first, those where a tensor's 2³¹-th element
    may lie, the corners of the grid, and some between.

    Args:
        lengths: of the tensors, in elements.
    """
    count = math.prod(grid)
    if not count:
        return []
    numbers = [count - 1, 0]
    for length in sorted(length for length in lengths if length > TURN):
        around = TURN * count // length
        numbers += [number for number in (around, around - 1, around + 1) if 0 < number < count]
    places: list[Place] = [place(number, grid) for number in numbers]
    places += [tuple(size - 1 if axis == only else 0 for axis, size in enumerate(grid)) for only in range(3)]
    places += [place(number, grid) for number in programs(count, SPREAD)]
    return list(dict.fromkeys(places))

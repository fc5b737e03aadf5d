"""Programs of a huge launch walked: where they load and store, on tensors without memory, and no value.

The ends of the grid are walked, its corners, and what lies around the 2³¹-th element of its tensors: an
offset that passes 2³¹ in int32 turns negative there, and its address lies outside of every tensor.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from grader.interpreter import whereabouts
from grader.interpreter.launching import Launching, Place, handed_to, speaking
from grader.interpreter.regions import regions_of
from grader.interpreter.watcher import Access
from grader.memory import span
from grader.meter.astray import Addresses, Astray, floats
from grader.meter.counter import LANES, Cut
from grader.meter.draws import Draws
from grader.meter.hollow import LARGE
from grader.meter.loops import Loops
from grader.meter.sample import place, programs
from grader.meter.turning import Turning
from grader.meter.unread import Handing
from grader.operators import tensors_in

_builder: Any = interpreter.interpreter_builder

APART = 1 << 37  # bytes between two tensors: 2³² elements of 8 bytes lie within, so no tensor is mistaken
TURN = 1 << 31  # elements that an int32 counts
SPREAD, LEAST = 4, 3  # programs all over the grid, and of a launch that comes late in a call
PROGRAM, CALL = 60, 120  # accesses of a program before it is cut; of a call before its launches are late
CAPPED = 1 << 14  # programs of a launch whose number a huge size does not raise
STAGE, READERS = 1024, 3000.0  # programs of a launch that reads partial results, and accesses of all of them


class TypedLoops(Loops):
    """Short loops whose variable is a tensor of the integer type that the compiler gives it."""

    WHOLE, FIRST, LAST = 3, 2, 1
    whole = False  # they are not to be short now

    def shorter(self, *limits: Any, unrolled: int = 1) -> Any:
        """In the place of `range`, and of tl.range."""
        steps = builtins.range(*map(operator.index, limits)) if self.whole else super().shorter(*limits)
        if not self.running:
            return steps
        dtype = tl.int64 if any(map(_long, limits)) else tl.int32
        return (_scalar(step, dtype) for step in steps)


def _undone(a: Any, b: Any, d: Any, *_: Any, **__: Any) -> Any:
    """In the place of tl.dot: no value is asked for."""
    return interpreter.TensorHandle(d.data, d.dtype.scalar)


def _long(limit: Any) -> bool:
    wide = isinstance(limit, tl.tensor) and limit.dtype.primitive_bitwidth == 64
    return wide or not -TURN <= int(limit) < TURN


def _scalar(value: int, dtype: Any) -> Any:
    numbers = np.array([value], np.int64 if dtype is tl.int64 else np.int32)
    return tl.tensor(interpreter.TensorHandle(numbers, dtype), dtype)


class Walk:
    """Walks the launches of one call.

    Args:
        path: the learner's file.
        loops: of the programs.
        handed: the arguments of the call by name.

    Attributes:
        launches: how many there were.
        again: places to which a program came more than once, of launches of few programs.
        effort: programs times the turns of their loops, of all launches.
    """

    def __init__(self, path: str, loops: TypedLoops, handed: dict[str, Any]) -> None:
        self.addresses, self.handing, self.draws = Addresses(path), Handing(), Draws(path)
        self.turning = Turning(path)
        self.loops, self.handed = loops, handed
        self.launches, self.effort = 0, 0.0
        self.path = path
        self.again = set[str]()
        self.met = Counter[str]()  # how often the running program came to an access
        self.paused = False  # by whoever makes the call; what is not to be counted is walked all the same
        self.spent = self.left = 0.0

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """While the block runs, launches are walked instead of executed."""
        with (
            handed_to(lambda launch: launch.sample(self, partial(self._walk, launch))),
            speaking(range=self.loops.language_range),
            mock.patch.object(_builder, "create_dot", _undone),
            self.draws.followed(),
            self.turning.followed(),
        ):
            yield

    def allows(self, access: Access) -> bool:
        """Look at the addresses. What steers a kernel is loaded and stored: integers in small tensors.

        Raises:
            Cut: this program has done enough.
            OutOfBounds: a lane lies outside of every tensor.
        """
        self.met[whereabouts.place(self.path)] += 1
        self.left -= 1 + access.addresses.size / LANES
        if self.left < 0:
            raise Cut
        try:
            home = self.addresses.home(access, self.turning.lines)
        except Astray:
            return False
        if home is not None:
            self.handing.access(home, access)
        self.draws.steered |= access.kind == "load" and access.dtype.kind in "iu" and access.size >= 4
        return home is not None and home.stop - home.start < LARGE and not floats(access.dtype)

    def _walk(self, launching: Launching, grid: Place, program: Callable[[Place], None]) -> None:
        self.launches += 1
        named = launching.named()
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
        self.loops.whole = True
        self.handing.program(last=False)
        try:
            for number in reversed(range(count if count <= STAGE else 0)):
                if room > 0 and self.handing.missing():
                    self.addresses.program()
                    room -= self._follow(program, place(number, grid), room)
        except Exception:
            room = 0.0
        self.loops.whole = False
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
        self.turning.lines.clear()
        self.loops.running, self.left = True, room
        try:
            program(at)
        except Cut:
            pass
        except Exception as error:
            strayed = any(overrun.wrapped for overrun in self.addresses.bounds.report())
            if strayed or not self.loops.shortened:
                raise error
        finally:
            self.loops.running = False
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

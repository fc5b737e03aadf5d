"""Programs of one launch that meet in an element, found in the interpreter though it runs them one by one.

A GPU promises no order between the programs of a launch. If one loads what another stores, if two store
different values to one element, or one stores what another changes by an atomic, the result depends on luck
there, and here on nothing. Atomics alone are no race, nor is a load beside them, which may be a guess. And a
launch that takes a lock or counts arrivals (a compare-and-swap, an exchange, an atomic on integers) may
order its programs in ways that cannot be seen from outside: it is given the benefit of the doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.interpreter import whereabouts
from grader.interpreter.regions import Region
from grader.interpreter.watcher import Access

MANY = -1


@dataclass(frozen=True)
class Race:
    """Two programs in one element.

    Attributes:
        kind: `load` when one loads what another stores, `store` when both store, `atomic` when one stores
            and the other changes it by an atomic.
        line: of the learner's file, where the second of them did it.
    """

    kind: str
    line: int


class Marks:
    """Who touched the elements of one tensor in this launch: 0 nobody, MANY several, else the program."""

    def __init__(self, count: int, dtype: Any) -> None:
        self.writer = np.zeros(count, np.int32)
        self.reader = np.zeros(count, np.int32)
        self.adder = np.zeros(count, np.int32)
        self.value = np.zeros(count, dtype)


class Races:
    """Watches the launches of one call.

    Args:
        path: the learner's file; lines are reported in it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.marks: dict[int, Marks] = {}
        self.met: dict[int, Race] = {}
        self.found: dict[int, Race] = {}
        self.ordered = False

    def launch(self) -> None:
        """A launch begins: those before it are over, and what they did is in order."""
        if not self.ordered:
            self.found |= self.met
        self.marks, self.met, self.ordered = {}, {}, False

    def report(self) -> list[Race]:
        """The races of all launches, one a line."""
        self.launch()
        return list(self.found.values())

    def atomic(self, home: Region | None, access: Access) -> None:
        """An atomic, by which programs may take turns; a bf16 that is added to comes as uint16."""
        counts = access.dtype.kind in "iu" and access.size >= 4
        self.ordered |= counts or access.op == "CAS" or "XCHG" in access.op
        if home is None:
            return
        marks, program = self._marks(home, access), whereabouts.number() + 1
        index = (access.lanes.astype(np.int64) - home.start) // access.size
        if _others(marks.writer[index], program).any():
            self._meet("atomic")
        _mark(marks.adder, index, program)

    def access(self, home: Region, access: Access) -> None:
        """The running program loads or stores elements of `home`."""
        marks = self._marks(home, access)
        index = (access.lanes.astype(np.int64) - home.start) // access.size
        program = whereabouts.number() + 1
        if access.kind == "load":
            self._load(marks, index, program)
        else:
            values = np.broadcast_to(access.value, access.addresses.shape)[access.mask]
            self._store(marks, index, values, program)

    def _load(self, marks: Marks, index: Any, program: int) -> None:
        if _others(marks.writer[index], program).any():
            self._meet("load")
        _mark(marks.reader, index, program)

    def _store(self, marks: Marks, index: Any, values: Any, program: int) -> None:
        if _others(marks.reader[index], program).any():
            self._meet("load")
        if _others(marks.adder[index], program).any():
            self._meet("atomic")
        shared = _others(marks.writer[index], program)
        there, here = marks.value[index][shared], values[shared]
        if ((there != here) & ((there == there) | (here == here))).any():  # NaN over NaN is no other value
            self._meet("store")
        marks.writer[index], marks.value[index] = program, values

    def _marks(self, home: Region, access: Access) -> Marks:
        count = (home.stop - home.start) // access.size
        if home.start not in self.marks or len(self.marks[home.start].writer) != count:
            self.marks[home.start] = Marks(count, access.dtype)
        return self.marks[home.start]

    def _meet(self, kind: str) -> None:
        line = whereabouts.line(self.path)
        self.met.setdefault(line, Race(kind, line))


def _mark(who: Any, index: Any, program: int) -> None:
    """This program was there, too."""
    who[index] = np.where(_others(who[index], program), MANY, program)


def _others(programs: Any, program: int) -> Any:
    """Where a mark is neither nobody's nor this program's."""
    return (programs != 0) & (programs != program)

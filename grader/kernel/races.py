"""Programs of one launch that meet in an element, found though they run in some order here.

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

from grader.kernel import number_formats
from grader.kernel.access import Touch
from grader.kernel.tensor_regions import Region

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
    """Watches the launches of one call."""

    def __init__(self) -> None:
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

    def access(self, home: Region, touch: Touch, lanes: Any, bits: Any, programs: Any) -> None:
        """Programs load, store or change elements of `home`.

        Args:
            lanes: addresses of the active lanes, int64 [lanes].
            bits: of a store, what each of them puts there.
            programs: of each lane its program's number, from 1; or one number for all.
        """
        marks, line = self._marks(home, touch.size), touch.site.line
        index = (lanes - home.start) // touch.size
        if touch.kind == "store":
            self._store(marks, line, index, bits, programs)
        else:
            self._met(touch.kind, line, _others(marks.writer[index], programs))
            _mark(marks.reader if touch.kind == "load" else marks.adder, index, programs)

    def _store(self, marks: Marks, line: int, index: Any, bits: Any, programs: Any) -> None:
        self._met("load", line, _others(marks.reader[index], programs))
        self._met("atomic", line, _others(marks.adder[index], programs))
        shared = _others(marks.writer[index], programs)
        if shared.any():
            self._met("store", line, marks.value[index][shared] != bits[shared])
        marks.writer[index], marks.value[index] = programs, bits
        lost = marks.writer[index] != programs  # to another program of this batch
        if lost.any():
            self._met("store", line, marks.value[index][lost] != bits[lost])

    def _marks(self, home: Region, size: int) -> Marks:
        count = (home.stop - home.start) // size
        if home.start not in self.marks or len(self.marks[home.start].writer) != count:
            self.marks[home.start] = Marks(count, number_formats.RAW[size])
        return self.marks[home.start]

    def _met(self, kind: str, line: int, where: Any) -> None:
        if where.any():
            self.met.setdefault(line, Race(kind, line))


def _mark(who: Any, index: Any, programs: Any) -> None:
    """These programs were there, too."""
    who[index] = np.where(_others(who[index], programs), MANY, programs)
    who[index[who[index] != programs]] = MANY


def _others(marks: Any, programs: Any) -> Any:
    """Where a mark is neither nobody's nor this program's."""
    return (marks != 0) & (marks != programs)

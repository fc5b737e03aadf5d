"""Every address a kernel touches, held against the tensors it was given.

An access outside every tensor stops the kernel with the line that did it. One in the guard words around a
tensor is let through and noted.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from grader.kernel import execution_position, number_formats
from grader.kernel.access import Access, Touch
from grader.kernel.races import Races
from grader.kernel.tensor_regions import OutOfBounds, Overrun, Region

FAR = 1 << 40  # elements; an address this far off comes from no tensor, an empty one's (0) for example
NEAR = 1 << 20  # elements; one further off than that may have been meant for another tensor
TURN = 1 << 32  # what an int32 lost when it passed 2³¹


class Bounds:
    """Watches the launches of one call.

    Args:
        path: the learner's file; lines are reported in it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.regions: list[Region] = []
        self.overruns: dict[tuple[str, int], Overrun] = {}
        self.races = Races()
        self.read: set[int] = set()  # addresses of the storages that were loaded from
        self.stored: dict[int, Any] = {}  # by the address of a storage: which of its bytes were stored
        self.moved = 0  # bytes of all stores: of each as often as it was stored

    def launch(self, regions: list[Region]) -> None:
        """A launch begins, on the tensors of these regions."""
        self.regions = regions
        self.races.launch()

    def report(self) -> list[Overrun]:
        """What was noted, one entry a line and kind."""
        return list(self.overruns.values())

    def forget(self, access: Access) -> None:
        """What was noted of this line and kind is no fault of the kernel's."""
        self.overruns.pop((access.kind, execution_position.line(self.path)), None)

    def record(self, home: Region, touch: Touch, lanes: Any, bits: Any, programs: Any) -> None:
        """Note what follows from lanes that lie in a tensor; the arguments are those of Races.access."""
        if touch.kind != "store":
            self.read.add(home.low)
        if home.own:
            if touch.kind != "load":
                self._keep(home, lanes - home.low, touch.size)
            self.races.access(home, touch, lanes, bits, programs)

    def _keep(self, home: Region, first: Any, size: int) -> None:
        """These bytes were stored."""
        if home.low not in self.stored:
            self.stored[home.low] = np.zeros(home.high - home.low, bool)
        bytes_ = self.stored[home.low]
        self.moved += first.size * size
        elements = bytes_[: len(bytes_) // size * size].view(number_formats.RAW[size])
        elements[first // size] = np.frombuffer(b"\x01" * size, elements.dtype)[0]

    def home(self, access: Access, turned: Set[int] = frozenset()) -> Region | None:
        """The region that all lanes lie in, if there is one and they stay within its data.

        Args:
            turned: the lines on which a number of this program is known to have passed 2³¹ in int32.

        Raises:
            OutOfBounds: a lane lies outside every region.
        """
        lanes = access.lanes
        if lanes.size == 0:
            return None
        low, high = int(lanes.min()), int(lanes.max()) + access.size
        home = next((r for r in self.regions if r.low <= low and high <= r.high), None)
        if home is not None and home.start <= low and high <= home.stop:
            return home
        beside = next((r for r in self.regions if r.start <= low and high <= r.stop), None)
        if beside is not None:  # another view of the same storage
            return beside
        if home is not None:
            outside = (lanes < home.start) | (lanes + np.uint64(access.size) > home.stop)
            self._note(access, home, int(lanes.max()) if high > home.stop else low, int(outside.sum()))
        else:
            self._stray(access, turned)
        return None

    def _stray(self, access: Access, lines: Set[int]) -> None:
        """The lanes fit no single region: fine if each fits one (a table of pointers), else it stops."""
        lanes = access.lanes
        lost = np.ones(lanes.shape, bool)
        for region in self.regions:
            inside = (lanes >= region.low) & (lanes + np.uint64(access.size) <= region.high)
            lost &= ~inside
        if not lost.any():
            return
        first = int(lanes[lost][0])
        whole = lanes[lost] + np.uint64(TURN * access.size)
        turned = next((r for r in self.regions if ((whole >= r.start) & (whole < r.stop)).any()), None)
        near = [turned] if turned else [r for r in self.regions if r.start < r.stop]
        home = min(near, key=lambda r: min(abs(first - r.start), abs(first - r.stop)), default=None)
        home = home or Region("", 0, first, first, 0)
        noted = self._note(
            access, home, first, int(lost.sum()), fatal=True, wrapped=turned is not None, turned=sorted(lines)
        )
        error = OutOfBounds(f"line {noted.line} {access.kind}s {noted.where}")
        error.kernel_line = noted.line  # type: ignore[attr-defined]  # of which no frame tells
        raise error

    def _note(
        self,
        access: Access,
        home: Region,
        worst: int,
        outside: int,
        fatal: bool = False,
        wrapped: bool = False,
        turned: Sequence[int] = (),
    ) -> Overrun:
        """Keep one overrun a line and kind: the first seen, unless a later one is fatal."""
        line, lanes = execution_position.line(self.path), access.lanes
        offsets = (lanes.astype(np.int64) - home.start) // access.size
        noted = Overrun(
            access.kind,
            home.name,
            line,
            execution_position.program(),
            _where(home, worst, access.size, known=wrapped),
            outside,
            masked=lanes.size < access.addresses.size,
            tile=access.addresses.ndim > 1,
            beyond=outside == lanes.size,
            step=int(np.gcd.reduce(offsets)),
            itemsize=access.size,
            wrapped=wrapped,
            callers=execution_position.callers(self.path),
            turned=[*turned],
        )
        if fatal or (access.kind, line) not in self.overruns:
            self.overruns[access.kind, line] = noted
        return noted


def _where(home: Region, address: int, size: int, known: bool = False) -> str:
    """The place of an access; `known` if it was meant for this tensor, which else is the nearest."""
    past = (address - home.stop) // size + 1 if address >= home.start else (address - home.start) // size
    if not home.name or abs(past) > FAR:
        return "where no tensor is"
    elements = "1 element" if abs(past) == 1 else f"up to {abs(past)} elements"
    which = ", the nearest tensor" if abs(past) > NEAR and not known else ""
    return f"{elements} {'past the end' if past > 0 else 'before the start'} of {home.name}{which}"

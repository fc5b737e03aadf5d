"""What one launch leaves for another, and whether that one comes as far.

A launch that works in stages hands partial results on in a tensor of the call's own. Of what its last program
stores, a launch that reads the tensor must have read something, or that program worked for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.kernel.access import Access
from grader.kernel.tensor_regions import Region
from grader.performance.meter.fake_tensors import LARGE


@dataclass(frozen=True)
class Unread:
    """What the last program of a launch stored, and no launch read.

    Attributes:
        kernel, tensor: who stored it, and what that kernel calls the tensor.
        programs: of that launch.
        element: the first one of it, counted from the tensor's first.
        reader: the kernel that reads the tensor.
        ends: the last element that it reads.
    """

    kernel: str
    tensor: str
    programs: int
    element: int
    reader: str
    ends: int


@dataclass
class Left:
    """What the last program of a launch left in a tensor, and what was read of that one; byte addresses."""

    home: Region
    launch: int
    kernel: str
    programs: int
    size: int
    stored: Any = field(default_factory=lambda: np.empty(0, np.uint64))
    reader: str = ""
    ends: int = -1
    doubtful: bool = False

    @property
    def missed(self) -> bool:
        """Somebody reads the tensor, and nothing of this."""
        return bool(self.reader) and not self.doubtful


class Handing:
    """Follows the launches of one call."""

    def __init__(self) -> None:
        self.left: dict[int, Left] = {}
        self.number = self.programs = 0
        self.kernel = ""
        self.last = self.loaded = False
        self.met: set[int] = set()

    def launch(self, kernel: str, programs: int) -> None:
        """A launch begins."""
        self.number, self.kernel, self.programs, self.met = self.number + 1, kernel, programs, set()

    def program(self, last: bool) -> None:
        """A program begins; `last` if it is the last of the grid."""
        self.last, self.loaded = last, False

    def missing(self) -> bool:
        """Whether this launch reads a tensor, and nothing yet of what a last program left there."""
        return any(self.left[low].missed for low in self.met & self.left.keys())

    def ended(self, whole: bool) -> None:
        """The launch is over; `whole` if nothing of it was left out."""
        for low in self.met & self.left.keys():
            self.left[low].doubtful |= not whole

    def access(self, home: Region, access: Access) -> None:
        """The program loads or stores elements of `home`."""
        if not access.lanes.size:
            return
        left = self.left.get(home.low)
        if access.kind == "load":
            # What is small, such as a weight, is loaded by a program that has no part of the work, too.
            self.loaded |= home.stop - home.start >= LARGE
            if left:
                self._read(left, access.lanes)
        elif left and left.launch != self.number:
            left.doubtful = True  # stored twice, and who reads may mean the second time
        elif home.own and self.last and self.loaded:
            made = Left(home, self.number, self.kernel, self.programs, access.size)
            left = self.left.setdefault(home.low, made)
            left.stored = np.union1d(left.stored, access.lanes)

    def _read(self, left: Left, lanes: Any) -> None:
        left.reader, left.ends = self.kernel, max(left.ends, int(lanes.max()))
        self.met.add(left.home.low)
        near = np.searchsorted(left.stored, lanes).clip(max=left.stored.size - 1)
        if (left.stored[near] == lanes).any():
            del self.left[left.home.low]

    def unread(self) -> Unread | None:
        """The first tensor that was read, but nothing of what the last program left there."""
        for left in self.left.values():
            if left.missed:
                start = left.home.start
                element, ends = ((int(at) - start) // left.size for at in (left.stored.min(), left.ends))
                return Unread(left.kernel, left.home.name, left.programs, element, left.reader, ends)
        return None

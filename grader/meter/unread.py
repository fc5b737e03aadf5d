"""What one launch leaves for another, and whether that one comes as far.

A launch that works in stages hands partial results on in a tensor of the call's own. Where its last program
stores, the launch that reads the tensor must have read as well, or that program worked for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.interpreter.regions import Region
from grader.interpreter.watcher import Access


@dataclass(frozen=True)
class Unread:
    """What the last program of a launch stored, and no launch read.

    Attributes:
        kernel, tensor: who stored it, and what that kernel calls the tensor.
        programs: of that launch.
        element: its last one, counted from the tensor's first.
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
    """The end of what a launch left in a tensor, and of what was read of it; byte addresses."""

    home: Region
    launch: int
    kernel: str
    programs: int
    size: int
    stored: int
    reader: str = ""
    read: int = -1
    doubtful: bool = False


class Handing:
    """Follows the launches of one call."""

    def __init__(self) -> None:
        self.left: dict[int, Left] = {}
        self.number = self.programs = 0
        self.kernel = ""
        self.last = self.loaded = self.whole = False
        self.met: set[int] = set()

    def launch(self, kernel: str, programs: int, whole: bool) -> None:
        """A launch begins; `whole` if all its programs are followed."""
        self.number, self.kernel, self.programs, self.whole = self.number + 1, kernel, programs, whole

    def program(self, last: bool) -> None:
        """A program begins; `last` if it is the last of the grid."""
        self.last, self.loaded, self.met = last, False, set()

    def ended(self, whole: bool) -> None:
        """The program is over; `whole` if nothing of it was left out."""
        for low in self.met:
            self.left[low].doubtful |= not (whole and self.whole)

    def access(self, home: Region, access: Access) -> None:
        """The program loads or stores elements of `home`."""
        if not access.lanes.size:
            return
        left, end = self.left.get(home.low), int(access.lanes.max())
        if access.kind == "load":
            self.loaded |= not home.own
            if left:
                left.reader, left.read = self.kernel, max(left.read, end)
                self.met.add(home.low)
        elif left and left.launch != self.number:
            left.doubtful = True  # stored twice, and who reads may mean the second time
        elif home.own and self.last and self.loaded:
            stored = max(end, left.stored if left else end)
            made = Left(home, self.number, self.kernel, self.programs, access.size, stored)
            self.left[home.low] = made

    def unread(self) -> Unread | None:
        """The first tensor that was read, but not to the end of what was left there."""
        for left in self.left.values():
            if not left.doubtful and -1 < left.read < left.stored:
                element, ends = ((at - left.home.start) // left.size for at in (left.stored, left.read))
                return Unread(left.kernel, left.home.name, left.programs, element, left.reader, ends)
        return None

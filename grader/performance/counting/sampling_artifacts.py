"""Is an address beside all tensors the kernel's fault, or that of a launch of which only some programs ran?

Where a kernel loads integers and goes where they lead, those must have been stored: of a sampled launch most
were not, and what lies there instead leads anywhere. Where it loads addresses, as Triton's grouped GEMM does,
they lead to tensors that the launch was not handed.
"""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from grader.kernel.access import Access, Touch, accesses
from grader.kernel.access_analysis import Recorder
from grader.kernel.batch import Batch
from grader.kernel.bounds import Bounds
from grader.kernel.tensor_regions import OutOfBounds, Region

ELSEWHERE = 1 << 36  # bytes from all tensors: half of what lies between two, and no int32 leads so far


class Addresses(Recorder):
    """Holds the addresses of one call, program by program, against its tensors.

    Args:
        path: the learner's file.

    Attributes:
        unstored: the running program loaded integers of which a sampled launch stored some.
        loaded: it loaded what may be an address.
    """

    every = True

    def __init__(self, path: str) -> None:
        super().__init__(Bounds(path))
        self._partly: set[int] = set()  # tensors that a launch stored to of which not all programs ran
        self._whole = True
        self.unstored = self.loaded = False

    def launch(self, regions: list[Region], whole: bool) -> None:
        """A launch begins, on these tensors; `whole` if all its programs are run."""
        self.bounds.launch(regions)
        self.regions, self._whole = regions, whole

    def program(self) -> None:
        """A program begins."""
        self.unstored = self.loaded = False

    def touched(self, batch: Batch, touch: Touch) -> Region | None:
        home = None
        for access in accesses(batch, touch):
            home = self.access(access, touch.site.line)
        return home

    def access(self, access: Access, line: int) -> Region | None:
        """An access of the program that runs; the tensor that it lies in, if it lies in one.

        Raises:
            OutOfBounds: as `home` does.
        """
        return self.home(access)

    def home(self, access: Access, turned: Set[int] = frozenset()) -> Region | None:
        """The tensor that it lies in, if it lies in one.

        Args:
            turned: the lines on which a number of this program passed 2³¹ in int32.

        Raises:
            OutOfBounds: a lane lies outside of every tensor, and so it would had everything run.
        """
        try:
            home = self.bounds.home(access, turned)
        except OutOfBounds:
            if not (self.unstored or (self.loaded and self._elsewhere(access))):
                raise
            self.bounds.forget(access)
            return None
        if home is None and self.unstored:
            self.bounds.forget(access)
        if home is not None and access.kind != "load":
            # Memory is handed out again once a tensor is gone: the next one there may be stored whole.
            (self._partly.discard if self._whole else self._partly.add)(home.low)
        elif home is not None and home.low in self._partly:
            self.unstored |= not access.floats
        self.loaded |= access.kind == "load" and not access.floats and access.size == 8
        return home

    def _elsewhere(self, access: Access) -> bool:
        lanes = access.addresses[access.mask].astype(np.int64)
        beside = [np.maximum(one.start - lanes, lanes - one.stop).min() for one in self.bounds.regions]
        return bool(lanes.size) and min(beside, default=0) > ELSEWHERE

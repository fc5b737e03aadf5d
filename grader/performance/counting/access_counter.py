"""Counts what the programs of a launch do to memory, access by access."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.kernel.access import Access
from grader.kernel.tensor_regions import Region
from grader.performance.counting.counts import SECTOR, Site
from grader.performance.counting.loop_sampling import Loops
from grader.performance.counting.sampling_artifacts import Addresses
from grader.performance.counting.sectors import Pattern, pattern

L1 = 1 << 14  # bytes that a program touches and L1 still holds: eight programs share 228 KB of it
LANES = 1 << 13  # of a block, that cost as much again as any operation does


class Cut(BaseException):
    """Ends a program that does too much; no `except Exception` of a kernel or of Triton stops it."""


@dataclass
class Tally:
    """What one program did; see counts.py for the words.

    Attributes:
        unstored: it loaded integers of which a sampled launch stored some.
        again: of each tensor bytes loaded again, and the sum of each times the bytes touched in between.
        loops: as they were at its end.
    """

    sites: dict[tuple[str, int, str, int], Site] = field(default_factory=dict)
    dots: float = 0.0
    flops: float = 0.0
    narrow: float = 0.0
    dot_line: int = 0
    steps: float = 0.0
    cut: bool = False
    unstored: bool = False
    again: dict[str, tuple[float, float]] = field(default_factory=dict)
    loops: Loops = field(default_factory=Loops)

    @property
    def flops_a_tile(self) -> float:
        """Operations of its dots, for each tile that it takes in turn."""
        return self.flops / max(self.loops.rounds, 1.0)

    @property
    def asked(self) -> float:
        return sum(site.asked for site in self.sites.values())

    @property
    def rounds(self) -> float:
        """Loop steps with loads in them: what waits for memory one after another."""
        return max([self.steps, *(site.calls for site in self.sites.values() if site.kind != "store")])


class Counter(Addresses):
    """Watches the programs that are counted.

    Args:
        path: the learner's file.

    Attributes:
        loops: whose weight every access counts with.
        work: operations of the running program, those on large blocks weighted with what they cost: one is
            0.1 ms on a slow core. A limit on it, unlike one on time, cuts alike anywhere.
        brief: programs end at their first tl.dot.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path, self.loops = path, Loops()
        self.brief = False
        self.begin(0.0)

    def begin(self, limit: float) -> None:
        """A program begins; it is cut after so much work."""
        self.tally, self.work, self.limit, self.step = Tally(), 0.0, limit, -1
        self._seen: dict[tuple[str, int], float] = {}  # what was touched until then
        # By kind and tensor: the first and the last sector of an access that leaves gaps in them, and when.
        self._gapped: dict[tuple[str, str], tuple[int, int, float]] = {}
        self.loops.reset()
        self.program()

    def spend(self, work: float) -> None:
        """So much is about to be done.

        Raises:
            Cut: this program has done enough.
        """
        self.work += work
        if self.work > self.limit:
            raise Cut

    def access(self, access: Access, line: int) -> Region | None:
        """Count it.

        Raises:
            Cut: this program has done enough.
            OutOfBounds: a lane lies outside of every tensor.
        """
        kind, addresses, mask, size = access.kind, access.addresses, access.mask, access.size
        self.spend(1 + addresses.size / LANES)
        home = self.home(access)
        self.tally.unstored = self.unstored
        if home is not None:
            addresses = addresses - np.uint64(home.low)  # a GPU's allocations start on a boundary
        key = (kind, line, home.name if home else "", size)
        found = pattern(addresses, mask, size)
        lanes, active = addresses.size, int(np.count_nonzero(mask))
        sectors = 0 if self._held(kind, key[2], found, addresses[mask], size) else found.sectors
        site = Site(*key, found.step, 1, lanes, lanes - active, active * size, found.useful * size, sectors)
        self.loops.stores += kind != "load"
        if kind == "load" and self.step != self.loops.step:
            self.step = self.loops.step
            self.tally.steps += self.loops.weight
        self.tally.sites.setdefault(key, Site(*key)).add(site, self.loops.weight)
        if home is not None:
            self._touch(home.name, addresses, site)
        return home

    def _held(self, kind: str, tensor: str, found: Pattern, addresses: Any, size: int) -> bool:
        """Whether L1 still has the sectors of a vector whose lanes leave gaps in each: every fourth element,
        where an access before it took the others.
        """
        if not size < found.step <= SECTOR or addresses.size < 2 or found.useful != addresses.size:
            return False
        first, last = int(addresses.min()) // SECTOR, int(addresses.max()) // SECTOR
        if (last - first) * SECTOR > addresses.size * found.step:
            return False  # no vector: a tile, whose rows lie apart
        low, high, then = self._gapped.get((kind, tensor), (0, -1, 0.0))
        if low <= first and last <= high and self.loops.touched - then <= L1:
            return True
        self._gapped[kind, tensor] = first, last, self.loops.touched
        return False

    def _touch(self, tensor: str, addresses: Any, site: Site) -> None:
        """Whether this program comes back to what it loaded before; a block is known by its first address."""
        tally, loops, place = self.tally, self.loops, (tensor, int(addresses.reshape(-1)[0]))
        if site.kind == "load" and place in self._seen:
            count, apart = loops.weight * site.useful, loops.touched - self._seen[place]
            known = tally.again.get(tensor, (0.0, 0.0))
            tally.again[tensor] = known[0] + count, known[1] + count * apart
        loops.touched += site.useful
        self._seen[place] = loops.touched

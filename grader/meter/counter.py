"""Counts what the programs of a launch do to memory, through the proxy of bounds.py."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.meter.bounds import Bounds, Region
from grader.meter.counts import SECTOR, Site
from grader.meter.loops import Loops
from grader.meter.sectors import Pattern, pattern

ACCESSES = 6000  # of one program, before it is cut
SECONDS = 1.0  # that one program may take


class Cut(BaseException):
    """Ends a program that does too much; no `except Exception` of a kernel or of Triton stops it."""


@dataclass
class Tally:
    """What one program did; see counts.py for the words."""

    sites: dict[tuple[str, int, str, int], Site] = field(default_factory=dict)
    dots: float = 0.0
    flops: float = 0.0
    ops: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    steps: float = 0.0
    cut: bool = False
    shortened: bool = False

    @property
    def asked(self) -> float:
        return sum(site.asked for site in self.sites.values())

    @property
    def rounds(self) -> float:
        """Loop steps with loads in them: what waits for memory one after another."""
        return max([self.steps, *(site.calls for site in self.sites.values() if site.kind != "store")])


class Counter:
    """Stands where Bounds stands: `bounds.watch(counter)`.

    Args:
        path: the learner's file.
        loops: whose weight every access counts with.
    """

    dry = True

    def __init__(self, path: str, loops: Loops) -> None:
        self.bounds = Bounds(path)
        self.races = self.bounds.races
        self.loops = loops
        self._known: dict[tuple[Any, ...], tuple[Any, Any, int, Pattern]] = {}
        self.begin(SECONDS)

    def launch(self, regions: list[Region]) -> None:
        """A launch begins, on these tensors."""
        self.bounds.launch(regions)

    def begin(self, seconds: float) -> None:
        """A program begins; it is cut after so many seconds."""
        self.tally, self.accesses, self.step = Tally(), 0, -1
        self.deadline = time.thread_time() + seconds
        self.loops.reset()

    def check(self, kind: str, addresses: Any, mask: Any, size: int) -> None:
        """Count one access; called before it happens.

        Raises:
            Cut: this program has done enough.
            OutOfBounds: a lane lies outside of every tensor.
        """
        self.accesses += 1
        if self.accesses > ACCESSES or time.thread_time() > self.deadline:
            raise Cut
        home = self.bounds.check(kind, addresses, mask, size)
        mask = np.broadcast_to(mask, addresses.shape)
        if home is not None:
            addresses = addresses - np.uint64(home.low)  # a GPU's allocations start on a boundary
        key = (kind, self.bounds.line(), home.name if home else "", size)
        found = self._pattern(key, addresses, mask, size)
        lanes, active = addresses.size, int(np.count_nonzero(mask))
        site = Site(
            *key, found.step, 1, lanes, lanes - active, active * size, found.useful * size, found.sectors
        )
        if kind == "load" and self.step != self.loops.step:
            self.step = self.loops.step
            self.tally.steps += self.loops.weight
        self.tally.sites.setdefault(key, Site(*key)).add(site, self.loops.weight)

    def _pattern(self, key: tuple[Any, ...], addresses: Any, mask: Any, size: int) -> Pattern:
        """A line in a loop does the same again and again: only what is new is worked out."""
        base = addresses.reshape(-1)[0] if addresses.size else np.uint64(0)
        offsets, phase = addresses - base, int(base) % SECTOR
        known = self._known.get(key)
        if known is not None:
            same = known[0].shape == offsets.shape and known[2] == phase
            if same and np.array_equal(known[0], offsets) and np.array_equal(known[1], mask):
                return known[3]
        found = pattern(addresses, mask, size)
        self._known[key] = offsets, mask, phase, found
        return found

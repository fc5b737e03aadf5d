"""What the programs that run at the same time ask for at the same time, and how much of it is different.

Programs start in the order of their numbers, as many at a time as the GPU holds: a wave. In the same turn of
their loops they load tiles; one that several of them load comes from DRAM once, and from L2 for the others.
So some programs of a wave run up to their first tl.dot. The share of the wave's tiles that are different is
what the launch fetches of all that it loads, if L2 keeps nothing for later waves.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from unittest import mock

from grader.datasheets import Gpu
from grader.kernel.access import Access
from grader.kernel.tensor_regions import Region
from grader.performance.compiler.assembly import residency
from grader.performance.counting.access_counter import Counter
from grader.performance.counting.counts import LaunchCounts

WHERE = (1 / 3, 2 / 3)  # of the grid, where waves are looked at: one alone may straddle two groups of tiles
RUN = 40  # programs of each: 2 ms apiece
REGISTERS = 64  # of a thread, beside its sums


class Wave:
    """Watches which tiles programs load.

    Attributes:
        loads: how many tiles of each tensor were loaded.
        tiles: those of them that are different; a tile is known by its line and its first address.
    """

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self.loads: dict[str, int] = {}
        self.tiles: dict[str, set[tuple[int, int]]] = {}

    def access(self, access: Access, line: int) -> Region | None:
        """Note a load of a tile.

        Raises:
            OutOfBounds: a lane lies outside of every tensor.
        """
        home = self.counter.home(access)
        if home is not None and access.kind == "load" and access.addresses.ndim > 1:
            self.loads[home.name] = self.loads.get(home.name, 0) + 1
            self.tiles.setdefault(home.name, set()).add((line, int(access.lanes[0])))
        return home

    def shares(self, ran: float) -> dict[str, float]:
        """Of each tensor, how many of the tiles that a whole wave loads are different.

        Args:
            ran: the share of the wave's programs that ran.
        """
        return {
            name: different(len(tiles), self.loads[name] / ran, ran) / (self.loads[name] / ran)
            for name, tiles in self.tiles.items()
        }


def different(seen: int, loads: float, ran: float) -> float:
    """How many different tiles there are among `loads`, of which a random share `ran` showed `seen`.

    If each of D tiles is loaded as often as any other, D (1 - (1 - ran)^(loads / D)) of them are seen.
    """
    low, high = float(seen), loads
    for _ in range(40):
        middle = (low + high) / 2
        shown = middle * (1 - (1 - ran) ** (loads / middle))
        low, high = (middle, high) if shown < seen else (low, middle)
    return high


def fetched(
    launch: LaunchCounts, gpu: Gpu, counter: Counter, run: Callable[[int], object]
) -> dict[str, float]:
    """Bytes of each tensor that the launch's waves fetch.

    Args:
        run: runs a program of the kernel as far as its first tl.dot.
    """
    at_once = min(gpu.sms * resident(launch, gpu), launch.programs)
    ran = min(RUN, at_once)
    shares: dict[str, float] = {}
    for where in WHERE:
        wave, counter.loops.where = Wave(counter), where
        first = min(int(where * launch.programs / at_once) * at_once, launch.programs - at_once)
        with mock.patch.object(counter, "access", wave.access):
            for number in random.Random(at_once).sample(range(at_once), ran):
                run(first + number)
        counter.loops.where = 0.0
        for name, share in wave.shares(ran / at_once).items():
            shares[name] = shares.get(name, 0.0) + share / len(WHERE)
    loads = [site for site in launch.sites if site.kind == "load"]
    return {
        name: share * sum(site.useful for site in loads if site.tensor == name)
        for name, share in shares.items()
    }


def resident(launch: LaunchCounts, gpu: Gpu) -> int:
    """About how many programs of a launch an SM holds, before it is compiled."""
    options: dict[str, Any] = launch.recipe.get("options", {})
    warps, stages = int(options.get("num_warps", 4)), int(options.get("num_stages", 3))
    operands, sums = tile(launch)
    registers = min(int(REGISTERS + sums / (32 * warps)), 255)
    return max(residency(gpu, registers, int(operands * stages), warps)[0], 1)


def tile(launch: LaunchCounts) -> tuple[float, float]:
    """Of a launch with dots: bytes of operands that one step of its loop loads, and sums of one program."""
    if not launch.dots:
        return 0.0, 0.0
    loads = [site for site in launch.sites if site.kind == "load" and site.calls >= 0.9 * launch.dots]
    stores = [site.lanes / site.calls for site in launch.sites if site.kind == "store" and site.calls]
    return sum(site.asked / site.calls for site in loads), max(stores, default=0.0)

"""What a launch takes from DRAM and leaves there, tensor by tensor, with an L2 of the data sheet's size.

Each byte once, and again what L2 has lost: tiles that the programs of a wave do not share, where the tensor
does not fit, and what a program loads once more after so many other bytes that those of all running programs
do not fit (the stack distance of Mattson et al., *Evaluation techniques for storage hierarchies*, 1970).
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.datasheets import Gpu
from grader.performance.counting.counts import Extent, LaunchCounts

LOST = 1.5  # times L2 that is touched in between, from which on nothing is left
OWNED = 1.1  # times a tensor's bytes, up to which programs load it if none shares with another


@dataclass(frozen=True)
class Traffic:
    """One tensor of a launch, bytes.

    Attributes:
        once: of each byte that is read, and of each that is written.
        later: read again by the same program.
        unshared: read again by other programs.
    """

    name: str
    extent: Extent
    once: float
    later: float = 0.0
    unshared: float = 0.0

    @property
    def bytes(self) -> float:
        """All of it."""
        return self.once + self.later + self.unshared


def traffic(launch: LaunchCounts, gpu: Gpu, resident: int) -> list[Traffic]:
    """Every tensor of a launch of which an SM holds `resident` programs."""
    at_once = max(min(launch.programs, gpu.sms * resident), 1)
    return [_of(name, extent, gpu.cache, gpu.cache / at_once) for name, extent in launch.tensors.items()]


def _of(name: str, extent: Extent, cache: float, each: float) -> Traffic:
    """Of an L2 of so many bytes, of which each running program has its share."""
    once = extent.read + extent.written
    if extent.bytes <= cache:
        return Traffic(name, extent, once)
    owned = extent.loaded - extent.again <= OWNED * extent.bytes
    later = extent.again if owned and extent.apart > LOST * each else 0.0
    return Traffic(name, extent, once, later, max(extent.fetched - extent.read, 0.0))

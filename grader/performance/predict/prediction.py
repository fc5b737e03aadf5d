"""All that is known of one call without a GPU, and the time that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.datasheets import Gpu
from grader.performance.compiler.instructions import Stretch
from grader.performance.counting.counts import LaunchCounts
from grader.performance.predict.dram_traffic import Traffic, traffic
from grader.performance.predict.roofline import REACHED, Built, roofs, seconds

SEEN = 0.9  # of what the task takes at least; whose counts come to less were not counted whole
KEPT = 3  # a tensor between two launches of less than 1/KEPT of L2 stays there
UNUSED = 0.8  # of the bytes of all sectors, that are asked for; below it sectors are what fills L2
LIMITED = {
    "memory": "it moves more bytes",
    "L2": "it loads the same bytes again and again, as small tiles do",
    "one program": "the program that has most to do takes that long by itself",
    "products": "it multiplies more than it must, or in tiles that are too small for the matrix units",
    "instructions": "issuing its instructions takes that long",
    "in turn": "its loop loads and multiplies in turn: Triton asks for tiles ahead in a `for` alone, with "
    "num_stages of 2 or more, where lanes load 4 bytes or more side by side",
    "spills": "its registers lie in memory",
    "atomics": "so many atomics queue for one address: add up in the program first, then once atomically",
    "starts": "there are so many programs that starting them takes that long: let each do more",
}


@dataclass(frozen=True)
class Compiled:
    """What the compiler said of a launch.

    Attributes:
        facts: see performance/compiler/assembly.py; empty where there are none.
        fault: why not, as runner/error_messages.py has it.
        unknown: why it was not tried, in words.
        runaway: seconds after which it was cut, 0 where it was done in time.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    fault: dict[str, Any] = field(default_factory=dict)
    unknown: str = ""
    runaway: float = 0.0

    @property
    def built(self) -> Built:
        """For the roofline."""
        if not self.facts:
            return Built()
        pipelined = self.facts["copies"] or self.facts["tma"]
        stages = max(self.facts["stages"] - 1, 1) if pipelined else 1
        return Built(
            resident=max(self.facts["resident"], 1),
            matrix=self.facts["matrix"] > 0,
            pipelined=pipelined > 0,
            overlapped=stages,
            warps=self.facts["warps"],
            code=[Stretch(**stretch) for stretch in self.facts["code"]],
            spilled=32 * self.facts["warps"] * self.facts["stack"],
        )


@dataclass(frozen=True)
class Call:
    """One call at full size.

    Attributes:
        launches, compiled: one of each for every launch, in order; operations of torch are launches, too.
        ideal: bytes that the best kernel moves.
        flops: operations that it takes, 0 where memory alone sets the pace.
        room: times the ideal bytes that the day's bar leaves room for.
        half: the operands are of 16 bits, which matrix units multiply.
        narrow: some are of 8 bits, which they multiply twice as fast.
        double: fp64 is asked for.
        results: where the storage of each result begins, and the bytes of the result.
    """

    gpu: Gpu
    launches: Sequence[LaunchCounts]
    compiled: Sequence[Compiled]
    ideal: float
    flops: float = 0.0
    room: float = 1.67
    half: bool = False
    narrow: bool = False
    double: bool = False
    results: Sequence[tuple[int, int]] = ()

    @property
    def us(self) -> float:
        """The predicted time, µs: no less than the task takes."""
        return max(self._counted_us, self._least_us)

    @property
    def at_least(self) -> bool:
        """Whether that is a lower bound: not all was counted, or less than the task takes."""
        return self.cut or self._counted_us < SEEN * self._least_us

    @property
    def cut(self) -> bool:
        """Some program was ended early: all counts are lower bounds."""
        return any(launch.cut for launch in self.launches)

    @property
    def _counted_us(self) -> float:
        pairs = zip(self.launches, self.compiled, strict=True)
        return 1e6 * sum(seconds(launch, self.gpu, compiled.built) for launch, compiled in pairs)

    @property
    def _least_us(self) -> float:
        """What the bytes that must move take, and the operations at the rate of the data sheet."""
        return max(self.copy_us, self.flops / (self.gpu.tensor * 1e6 * (1 + self.narrow)))

    def traffic(self) -> list[Traffic]:
        """What launches take from DRAM or leave there; a small tensor between two of them stays in L2."""
        between = self.gpu.l2_size * 1e6 / KEPT if len(self.launches) > 1 else 0.0
        pairs = zip(self.launches, self.compiled, strict=True)
        found = [one for launch, built in pairs for one in traffic(launch, self.gpu, built.built.resident)]
        return [one for one in found if not one.extent.own or one.extent.bytes >= between]

    @property
    def moved(self) -> float:
        """Bytes from and to DRAM, at least."""
        torch = sum(launch.heaviest for launch in self.launches if not launch.line)
        return torch + sum(one.bytes for one in self.traffic())

    @property
    def shared(self) -> float:
        """The same, if programs shared all tiles and L2 held all that it may."""
        return self.moved - sum(one.unshared for one in self.traffic())

    @property
    def copy_us(self) -> float:
        """A plain copy that moves as many bytes, µs."""
        return 1e6 * self.ideal / (self.gpu.dram * 1e9 * REACHED)

    @property
    def products(self) -> float:
        """Operations of all tl.dot."""
        return sum(launch.flops for launch in self.launches)

    def roofs(self) -> list[dict[str, float]]:
        """Of each launch, seconds by what might limit it."""
        pairs = zip(self.launches, self.compiled, strict=True)
        return [roofs(launch, self.gpu, compiled.built) for launch, compiled in pairs]

    def limits(self) -> list[str]:
        """What limits each launch."""
        return [max(roof, key=lambda name: roof[name]) for roof in self.roofs()]


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at.

    Attributes:
        name: compiles, compile time, shared memory, spills, matrix units, sectors, stores, fp64, divisions,
            programs, in flight, bytes, order, products, time.
        passed: whether it is within its margin.
        says: one sentence, with the factor.
        line: of the learner's file; 0 where none is to blame, or the meter does not know it.
        look_at: what to look for there then.
    """

    name: str
    passed: bool
    says: str
    line: int = 0
    look_at: str = ""


def cause(call: Call, index: int) -> str:
    """Why the launch takes the time that is predicted."""
    launch, limit = call.launches[index], call.limits()[index]
    facts = call.compiled[index].facts
    if limit == "L2" and sum(site.useful for site in launch.sites) < UNUSED * launch.moved:
        return "most of what it moves are unused parts of sectors"
    if limit == "products" and facts and not facts["matrix"]:
        return "the matrix units stay idle"
    return LIMITED[limit]

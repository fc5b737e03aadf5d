"""A launch's time from its counts: the slowest of memory, L2, products, instructions, spills and starts.

After Williams, Waterman and Patterson, *Roofline* (CACM 2009), with more roofs: what an SM issues, and
starting programs. That too few bytes are on their way is a fact of its own (speed_facts.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grader.datasheets import LANES, SCHEDULERS, Gpu
from grader.performance.compiler.instructions import Stretch, Units
from grader.performance.counting.counts import SECTOR, LaunchCounts
from grader.performance.counting.l2_reuse import resident, tile
from grader.performance.predict.dram_traffic import traffic

TRIP = 0.65e-6  # one round to memory and back
STARTED = 0.9  # programs that a GPU starts a clock, on an H200 whatever they do
LAUNCH = 2.0e-6  # a kernel after another
# What follows is fitted to our solutions and laggards on an H200; `track dev predicted` says how well.
REACHED = 0.9  # of the data sheet's bandwidth, at best
PARTIAL = 4.0  # a sector that is stored in part costs so many whole ones
ATOMIC = 6.5  # an atomic addition to a sector costs so many
IDLE = 1.4  # warps that wait for each one that issues; a scheduler of few warps issues less
ALONE = 0.1  # of the time of products, up to which what is computed in between is nothing
SPILLED = 0.5  # of L2's bandwidth, that registers in memory are stored and loaded at


@dataclass(frozen=True)
class Built:
    """What the compiler says of a launch; the defaults are a guess.

    Attributes:
        resident: programs that an SM holds at once.
        matrix: whether tl.dot became matrix instructions.
        pipelined: whether a loop asks for its tiles before it needs them.
        overlapped: rounds of a loop that are under way at once.
        spilled: bytes of a program's registers that lie in memory.
        warps: of a program.
        code: the kernel and its loops, as performance/compiler/instructions.py has them.
    """

    resident: int = 8
    matrix: bool = True
    pipelined: bool = True
    overlapped: int = 1
    spilled: int = 0
    warps: int = 4
    code: Sequence[Stretch] = ()


def roofs(launch: LaunchCounts, gpu: Gpu, built: Built) -> dict[str, float]:
    """Seconds by what would be the limit, if nothing else were."""
    if not launch.line:
        return _of_torch(launch, gpu)
    busy = min(1.0, launch.programs / gpu.sms)
    eight = launch.narrow / launch.flops if launch.flops else 0.0
    # Data sheets give operands of 8 bits twice the rate of those of 16.
    tensor = gpu.tensor * 0.7 * (1 + eight) if built.matrix else gpu.fp32 * 0.5
    steps = max(launch.mean_rounds, 1.0)
    units = _units(launch, gpu, built, math.ceil(launch.programs / gpu.sms))
    between, products = units.pop("float", 0.0), launch.flops / (tensor * 1e12 * busy)
    found = {
        "memory": sum(one.bytes for one in traffic(launch, gpu, built.resident)) / (gpu.dram * 1e9 * REACHED),
        "L2": _l2_bytes(launch) / (gpu.l2 * 1e9),
        "one program": max(
            launch.heaviest / (gpu.l2 * 1e9 / gpu.sms),
            launch.heaviest_flops / (tensor * 1e12 / gpu.sms),
            _units(launch, gpu, built, launch.busiest).get("issue", 0.0),
        ),
        # What is computed between two products waits for the first and keeps the second waiting.
        "products": products + between if products else 0.0,
        "instructions": max(units.values(), default=0.0),
        "spills": 2 * built.spilled * launch.programs * steps / (SPILLED * gpu.l2 * 1e9 * busy),
        "starts": launch.programs / (STARTED * gpu.clock * 1e9),
        "atomics": _queue(launch) / (gpu.clock * 1e9),
    }
    # What an attention kernel computes in between hides its loads.
    alone = built.matrix and between < ALONE * products
    return found | {"in turn": _in_turn(found, built.resident) if alone and not built.pipelined else 0.0}


def _in_turn(found: dict[str, float], resident: int) -> float:
    """A program loads, stores to shared memory and multiplies, one after another; what else its SM holds
    hides the shorter parts of it.
    """
    parts = [found[name] for name in ("L2", "instructions", "products")]
    return max(parts) + (sum(parts) - max(parts)) / resident


def _queue(launch: LaunchCounts) -> float:
    """The most atomics that one address takes, one a clock, of lines whose lanes share addresses."""
    shared = [site for site in launch.sites if site.kind == "atomic" and site.useful < site.asked]
    known = [(site, launch.tensors[site.tensor].bytes) for site in shared if site.tensor]
    return max((site.asked / max(size, site.itemsize) for site, size in known), default=0.0)


def _units(launch: LaunchCounts, gpu: Gpu, built: Built, programs: float) -> dict[str, float]:
    """What the instructions of so many programs keep each unit of their SM busy for.

    Of few warps at a time most wait for what they asked for last; shared memory takes requests meanwhile.
    """
    warps = built.warps * max(min(built.resident, programs), 1.0) / SCHEDULERS
    share = programs / launch.programs
    lanes = LANES | {"double": gpu.fp64 * 1e3 / (2 * gpu.clock * gpu.sms)}
    return {
        unit: 32 * built.warps * share * count / (lanes[unit] * gpu.clock * 1e9)
        * (1 + (unit != "shared") * IDLE / warps)
        for unit, count in issued(launch, built.code).items()
    }  # fmt: skip


def _of_torch(launch: LaunchCounts, gpu: Gpu) -> dict[str, float]:
    """An operation of torch: what it moves, and a product at the rate that tl.dot reaches; in fp32 without
    matrix units.
    """
    rate = gpu.fp32 * 0.7 if launch.single else gpu.tensor * 0.7
    return {
        "memory": launch.heaviest / (gpu.dram * 1e9 * REACHED),
        "products": launch.flops / (rate * 1e12),
    }


def _l2_bytes(launch: LaunchCounts) -> float:
    total = 0.0
    for site in launch.sites:
        partial = site.kind == "store" and site.efficiency <= 0.5
        total += site.sectors * SECTOR * (ATOMIC if site.kind == "atomic" else PARTIAL if partial else 1.0)
    return total


def seconds(launch: LaunchCounts, gpu: Gpu, built: Built) -> float:
    """The launch's time."""
    return max(roofs(launch, gpu, built).values()) + LAUNCH


def quick(launch: LaunchCounts, gpu: Gpu) -> float:
    """The same before anything is compiled; impossible configs take for ever."""
    options = launch.recipe.get("options", {})
    warps = int(options.get("num_warps", 4))
    stages = int(options.get("num_stages", 3))
    operands, sums = tile(launch)
    if operands * stages > gpu.shared or sums / (32 * warps) > 200:
        return float("inf")
    return seconds(launch, gpu, Built(resident(launch, gpu)))


def issued(launch: LaunchCounts, code: Sequence[Stretch]) -> Units:
    """What the first warps of all programs issue: loops of the code, held against those that were counted.

    What an `if` skips counts as if it ran.
    """
    total = Counter[str]()
    for stretch, times in zip(code, _times(launch, code), strict=True):
        for unit, count in stretch.units.items():
            total[unit] += times * count  # type: ignore[assignment]
    return dict(total)


def _times(launch: LaunchCounts, code: Sequence[Stretch]) -> list[float]:
    """How often each stretch is run through by all programs."""
    times = list[float]()
    lines = _lines(launch, code)
    for stretch, line in zip(code, lines, strict=True):
        if not times:
            times.append(float(launch.programs))
        elif line:
            times.append(launch.trips[line] / lines.count(line))
        else:  # a `while`, or a loop of the compiler's own: as often as its lines load and store
            calls = [site.calls for site in launch.sites if site.line in stretch.lines]
            times.append(max(calls, default=times[stretch.outer]))
    return times


def _lines(launch: LaunchCounts, code: Sequence[Stretch]) -> list[int]:
    """The line of the `for` that each stretch was made from; 0 where none is known.

    A loop has the lines of those inside of it as well, so the innermost choose first; and of what is left
    the first line is that of the loop, those behind it were unrolled.
    """
    inside: list[set[int]] = [set() for _ in code]
    found = [0] * len(code)
    for index in range(len(code) - 1, 0, -1):
        known = [line for line in code[index].lines if line in launch.trips and line not in inside[index]]
        found[index] = min(known, default=0)
        inside[code[index].outer] |= inside[index] | {found[index]}
    return found

"""A launch's time from its counts: the slowest of memory, L2, products, arithmetic, spills and waiting.

After Williams, Waterman and Patterson, *Roofline* (CACM 2009), with one more roof: programs that wait for
memory, one round after another, with too few of them on an SM to hide it.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.datasheets import Gpu
from grader.meter.counts import SECTOR, LaunchCounts
from grader.meter.wave import resident, tile
from grader.predict.traffic import traffic

START = 0.4e-6  # seconds from a program's start to its first load
TRIP = 0.65e-6  # one round to memory and back
LAUNCH = 2.0e-6  # a kernel after another
# What follows is fitted to our solutions and laggards on an H200; `track dev predicted` says how well.
REACHED = 0.9  # of the data sheet's bandwidth, at best
SM_BYTES = 64  # that an SM can receive in one clock
PARTIAL = 4.0  # a sector that is stored in part costs so many whole ones
ATOMIC = 6.5  # an atomic addition to a sector costs so many
SINGLE = 0.4  # of what tl.dot reaches on Hopper, where single warps multiply; fitted to laggards of week 5
SPILLED = 0.5  # of L2's bandwidth, that registers in memory are stored and loaded at
# Element operations a clock and SM: fp32; Philox, fitted to tl.rand on day 24; exp, log, sin, … in fp32.
ALU, INTEGER, SPECIAL, SPECIAL64 = 128, 76, 16, 40


@dataclass(frozen=True)
class Built:
    """What the compiler says of a launch; the defaults are a guess.

    Attributes:
        resident: programs that an SM holds at once.
        matrix: whether tl.dot became matrix instructions.
        warpgroup: whether four warps together issue them.
        overlapped: rounds of a loop that are under way at once.
        spilled: bytes of a program's registers that lie in memory.
    """

    resident: int = 8
    matrix: bool = True
    overlapped: int = 1
    spilled: int = 0
    warpgroup: bool = True


def roofs(launch: LaunchCounts, gpu: Gpu, built: Built) -> dict[str, float]:
    """Seconds by what would be the limit, if nothing else were."""
    if not launch.line:
        return _of_torch(launch, gpu)
    busy = min(1.0, launch.programs / gpu.sms)
    sm_bytes = SM_BYTES * gpu.clock * 1e9
    single = SINGLE if gpu.major >= 9 and not built.warpgroup else 1.0
    eight = launch.ops.get("8-bit dot", 0) / launch.flops if launch.flops else 0.0
    # Data sheets give operands of 8 bits twice the rate of those of 16.
    tensor = gpu.tensor * 0.7 * single * (1 + eight) if built.matrix else gpu.fp32 * 0.5
    fp64 = launch.ops.get("fp64", 0) + SPECIAL64 * launch.ops.get("special64", 0)
    waves = max(1.0, launch.programs / (gpu.sms * built.resident))
    alone = START + max(launch.rounds / built.overlapped, 1.0) * TRIP
    together = waves * (START + max(launch.mean_rounds / built.overlapped, 1.0) * TRIP)
    steps = max(launch.mean_rounds, 1.0)
    arithmetic = (
        launch.ops.get("fp32", 0) / (ALU * gpu.sms * gpu.clock * 1e9 * 0.7 * busy)
        + launch.ops.get("int", 0) / (INTEGER * gpu.sms * gpu.clock * 1e9 * 0.7 * busy)
        + launch.ops.get("special", 0) / (SPECIAL * gpu.sms * gpu.clock * 1e9 * busy)
        + 2 * fp64 / (gpu.fp64 * 1e12 * busy)
    )
    products = launch.flops / (tensor * 1e12 * busy)
    return {
        "memory": sum(one.bytes for one in traffic(launch, gpu, built.resident)) / (gpu.dram * 1e9 * REACHED),
        "L2": _l2_bytes(launch) / (gpu.l2 * 1e9 * busy),
        "one program": max(launch.heaviest / sm_bytes, launch.heaviest_flops / (tensor * 1e12 / gpu.sms)),
        # What is computed between two products waits for the first and keeps the second waiting.
        "products": products + arithmetic if products else 0.0,
        "arithmetic": arithmetic,
        "spills": 2 * built.spilled * launch.programs * steps / (SPILLED * gpu.l2 * 1e9 * busy),
        "waiting": max(alone, together),
    }


def _of_torch(launch: LaunchCounts, gpu: Gpu) -> dict[str, float]:
    """An operation of torch: what it moves, and a product at the rate that tl.dot reaches; in fp32 without
    matrix units.
    """
    rate = gpu.fp32 * 0.7 if launch.ops.get("fp32") else gpu.tensor * 0.7
    return {
        "memory": launch.heaviest / (gpu.dram * 1e9 * REACHED),
        "products": launch.flops / (rate * 1e12),
    }


def _l2_bytes(launch: LaunchCounts) -> float:
    total = 0.0
    for site in launch.sites:
        partial = site.kind == "store" and site.efficiency < 0.5
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
    overlapped = max(stages - 1, 1) if launch.dots else 1
    return seconds(launch, gpu, Built(resident(launch, gpu), overlapped=overlapped))

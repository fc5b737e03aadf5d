"""Facts about a call, each with its margin: what makes a kernel slow whichever GPU it runs on.

A gate fails on what was counted or compiled, never on a guess; only the last one looks at a predicted time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from grader.datasheets import MATRIX_UNITS
from grader.performance.counting.counts import Site
from grader.performance.predict.dram_facts import WASTE, moved, order
from grader.performance.predict.dram_traffic import traffic
from grader.performance.predict.prediction import Call, Fact, cause
from grader.performance.predict.reference_predictions import Ours
from grader.performance.predict.roofline import TRIP

SECTORS = 0.8  # of the sectors' bytes that are asked for; below it a line wastes
STORES = 2.0  # times that an element is stored
SHARE = 5.0  # times its fair share of the work that one program may do
STACK = 256  # bytes of spilled registers a thread
MATRIX = 0.5  # of the operations of tl.dot, that may miss the matrix units
PRODUCTS = 1.4  # times the operations of our solution's tl.dot; scores that are computed twice make 1.5
SURE = 1.1  # scatter of the sampled programs' products, up to which they are known well enough
ALIKE = 1.02  # times the mean of its programs' products that the busiest does, where all do the same
COMPUTING = ("instructions", "one program")  # what holds a launch up that computes too much
DOUBLES = 8  # fp64 instructions in a kernel that nobody asked for
DIVISIONS = 4  # of 64-bit integers in a kernel
FLIGHT = 0.8  # of the bytes on their way at a time that the day's bar takes, by what it leaves room for
LONG = 8  # times the bytes in flight, from which on a launch is long enough to be judged by them
STARTS = 1.1  # of what the bar leaves: on an H200 one or two million programs start as predicted within 2 %


def facts(call: Call, ours: Ours | None, fixed: Collection[str] = ()) -> list[Fact]:
    """All of them; those that explain most first.

    Args:
        ours: what is predicted for our own solution.
        fixed: kernels whose sizes of blocks are handed out, or follow from the inputs.
    """
    if not call.ideal:  # the day has no bar: however its kernel is launched is right
        return [*_compiles(call), *_spills(call)]
    found = [*_compiles(call), *_matrix(call), *_spills(call), *_sectors(call), *_stores(call)]
    found += [*_doubles(call), *_programs(call), *_in_flight(call, fixed), *moved(call), *order(call)]
    return [*found, *_products(call, ours), *_time(call, ours)]


def _compiles(call: Call) -> Iterator[Fact]:
    for launch, compiled in zip(call.launches, call.compiled, strict=True):
        if compiled.fault:
            line, said = int(compiled.fault["line"]), str(compiled.fault["message"]).splitlines()[0]
            where = f"line {line}" if line else launch.kernel
            yield Fact("compiles", False, f"The compiler rejects {where}: {said}", line)
        elif compiled.runaway:
            says = (
                f"The compiler was not done with {launch.named} after {compiled.runaway:.0f} s: its tile is "
                "unrolled into too many instructions, or does not fit in the registers of its warps."
            )
            yield Fact("compile time", False, says, launch.dot_line or launch.line)
        elif compiled.facts and not compiled.facts["fits"]:
            need, have = compiled.facts["shared"] >> 10, call.gpu.shared >> 10
            says = f"{launch.named} needs {need} KB of shared memory where {call.gpu.name} has {have}."
            yield Fact("shared memory", False, says, launch.line)
        elif compiled.facts:
            yield Fact("compiles", True, f"{launch.kernel} compiles for {call.gpu.name}.", launch.line)


def _spills(call: Call) -> Iterator[Fact]:
    for launch, compiled in zip(call.launches, call.compiled, strict=True):
        if compiled.facts:
            stack, warps = compiled.facts["stack"], compiled.facts["warps"]
            says = (
                f"{launch.named} spills {stack} bytes a thread: its values do not fit in the registers of "
                f"{warps} warp{'s' * (warps > 1)}."
                if stack > STACK
                else f"{launch.kernel} keeps its values in {compiled.facts['registers']} registers a thread."
            )
            yield Fact("spills", stack <= STACK, says, launch.line)


def _matrix(call: Call) -> Iterator[Fact]:
    """Of a day that counts operations, on operands that matrix units take; where Triton reaches them."""
    if not (call.flops and call.half) or call.gpu.major < MATRIX_UNITS[0]:
        return
    pairs = list(zip(call.launches, call.compiled, strict=True))
    if any(launch.dots and not compiled.facts for launch, compiled in pairs):
        return
    products = call.products
    idle = [launch for launch, compiled in pairs if launch.dots and not compiled.facts["matrix"]]
    idle += [launch for launch in call.launches if not launch.line and launch.single]
    if not products:
        line = max((launch for launch, _ in pairs), key=lambda launch: launch.asked).line
        yield Fact("matrix units", False, "The matrix units stay idle: there is no tl.dot.", line)
    elif sum(launch.flops for launch in idle) > MATRIX * products:
        line = idle[0].dot_line
        which = f"line {line} multiplies with tl.dot" if idle[0].line else f"{idle[0].kernel} multiplies"
        says = f"The matrix units stay idle: {which}, but not in 16 bits."
        yield Fact("matrix units", False, says, line)
    else:
        yield Fact("matrix units", True, "The matrix units do the products.")


def _sectors(call: Call) -> Iterator[Fact]:
    total = sum(launch.moved for launch in call.launches)
    wasted = []
    for launch in call.launches:
        for site in launch.sites:
            used = site.useful + _held(site, launch.sites)
            if used < SECTORS * site.moved and site.moved - used > WASTE * max(total, call.ideal):
                wasted.append((site.moved - used, site))
    if not wasted and total:
        good = sum(site.useful for launch in call.launches for site in launch.sites) / total
        yield Fact("sectors", True, f"{min(good, 1):.0%} of the sectors' bytes are asked for.")
    for _, site in sorted(wasted, key=lambda pair: -pair[0]):
        yield Fact("sectors", False, _wasteful(site), site.line)


def _held(site: Site, sites: Sequence[Site]) -> float:
    """Bytes that others take from the sectors that this one brought into L1: they move none themselves."""
    alike = [one for one in sites if (one.kind, one.tensor) == (site.kind, site.tensor)]
    moved = sum(one.moved for one in alike)
    return site.moved / moved * sum(one.useful for one in alike if not one.moved) if moved else 0.0


def _wasteful(site: Site) -> str:
    does = {"load": "loads", "store": "stores", "atomic": "updates"}[site.kind]
    head = f"Line {site.line} {does} {1 / site.efficiency:.1f}× the 32-byte sectors needed: "
    if site.step == 0:
        return head + f"each program touches {site.itemsize} bytes of a sector by itself."
    if site.step == site.itemsize:
        return head + "the pieces of a row are shorter than a sector, so wider tiles help."
    return head + f"neighbouring lanes are {site.step // site.itemsize} elements apart."


def _stores(call: Call) -> Iterator[Fact]:
    """Of tensors that L2 cannot hold: what partial sums cost that stay there, the predicted time says."""
    for launch in call.launches:
        for name, extent in launch.tensors.items():
            times = extent.stored / extent.bytes if extent.bytes else 0.0
            if times >= STORES and extent.stored > WASTE * call.ideal and extent.bytes > call.gpu.cache:
                least = "at least " if launch.cut else ""
                what = f"Line {extent.line} stores to {name} {least}{times:.0f} times what fits in it."
                says = f"{what} Programs, or rounds of a loop, take the same elements."
                yield Fact("stores", False, says, extent.line)


def _doubles(call: Call) -> Iterator[Fact]:
    """Of launches that take a good part of the call, and such arithmetic most of that: a last program may add
    partial sums in fp64.
    """
    pairs = list(zip(call.launches, call.compiled, strict=True))
    for (launch, compiled), limit, roofs in zip(pairs, call.limits(), call.roofs(), strict=True):
        if limit not in COMPUTING or roofs[limit] * 1e6 < WASTE * call.us:
            continue
        doubles, divisions = compiled.facts.get("doubles", 0), compiled.facts.get("divisions", 0)
        if doubles > DOUBLES and not call.double:
            line = compiled.facts["double_line"] or launch.line
            says = f"Line {line} computes in fp64: {doubles} instructions at a fraction of the rate of fp32."
            yield Fact("fp64", False, says, line)
        if divisions > DIVISIONS and not launch.dots:
            says = (
                f"{launch.kernel} divides 64-bit integers {divisions} times a thread; 32 bits take a tenth."
            )
            yield Fact("divisions", False, says, launch.line)


def _in_flight(call: Call, fixed: Collection[str]) -> Iterator[Fact]:
    """Little's law: bandwidth times latency is what has to be on its way at any time."""
    needed = call.gpu.dram * 1e9 * TRIP
    for launch, compiled in zip(call.launches, call.compiled, strict=True):
        loads = sum(site.asked for site in launch.sites if site.kind == "load")
        memory = sum(one.bytes for one in traffic(launch, call.gpu, compiled.built.resident))
        if not compiled.facts or launch.dots or memory < LONG * needed:
            continue
        if loads < launch.asked / 3 or (memory < WASTE * call.ideal and not launch.cut):
            continue
        built = compiled.built
        at_once = min(launch.programs, call.gpu.sms * built.resident)
        each = loads / launch.programs / max(launch.mean_rounds / built.overlapped, 1.0)
        share = at_once * each / needed
        if share < FLIGHT / call.room:
            help_is = "Larger blocks help"
            if launch.programs < call.gpu.sms:
                help_is = f"More programs help: there are {call.gpu.sms} SMs"
            elif launch.kernel in fixed:
                help_is = "The size of its blocks is given: to load several before the first is used helps"
            says = (
                f"Too few bytes are on their way: {launch.named} runs {at_once:,} programs at a time, "
                f"each with {each:,.0f} bytes, {share:.0%} of what keeps memory busy. {help_is}."
            )
            yield Fact("in flight", False, says, launch.line)


def _programs(call: Call) -> Iterator[Fact]:
    """How evenly the work is dealt out: one program is one SM's."""
    work = max(sum(launch.asked for launch in call.launches), call.ideal)
    for launch in call.launches:
        fair = max(work, launch.asked) / call.gpu.sms
        times = launch.heaviest / fair
        busy = min(launch.programs, launch.asked / launch.heaviest if launch.heaviest else 1)
        if launch.line and times > SHARE and busy < call.gpu.sms:
            which = f"one of {launch.programs} programs" if launch.programs > 1 else "its only program"
            says = (
                f"{launch.kernel} keeps {max(busy, 1):.0f} of {call.gpu.sms} SMs busy: "
                f"{which} does {min(times / call.gpu.sms, 1):.0%} of the work."
            )
            yield Fact("programs", False, says, launch.line)


def _products(call: Call, ours: Ours | None) -> Iterator[Fact]:
    """Blocks of scores that count for nothing, or are computed again, hide behind larger tiles."""
    if not (call.flops and ours and ours.flops) or any(launch.scatter > SURE for launch in call.launches):
        return
    times = call.products / ours.flops
    most = max(call.launches, key=lambda launch: launch.flops)
    says = f"The call multiplies {times:.1f}× what our solution does"
    if most.line and times >= PRODUCTS and most.heaviest_flops * most.programs < ALIKE * most.flops:
        says += f": every program of {most.kernel} multiplies as much, so no block is skipped"
    yield Fact("products", times < PRODUCTS, f"{says}.", most.dot_line or most.line)


def allowed(call: Call, ours: Ours) -> float:
    """How many times slower than ours it may be predicted; where nothing but starting programs takes the
    time, hardly slower than the bar leaves.
    """
    started = ours.slack > 1 and {*call.limits()} == {"starts"}
    return STARTS * ours.slack if started else ours.times


def _time(call: Call, ours: Ours | None) -> Iterator[Fact]:
    if ours is None:
        return
    times = call.us / ours.us
    least = "At least " if call.at_least else ""
    says = f"{least}{call.us:,.0f} µs are predicted, {times:.1f}× ours ({ours.us:,.0f} µs)"
    if times < allowed(call, ours):
        yield Fact("time", True, f"{says}.")
        return
    slowest = max(range(len(call.launches)), key=lambda i: call.launches[i].asked)
    yield Fact("time", False, f"{says}: {cause(call, slowest)}.", call.launches[slowest].line)

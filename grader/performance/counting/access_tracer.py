"""Writes down which elements each program touches, access by access: what a picture is drawn from."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from grader.kernel import execution_position
from grader.kernel.access import Access, Touch, accesses
from grader.kernel.access_analysis import Recorder
from grader.kernel.batch import Batch
from grader.kernel.launch_hook import Launching, handed_to
from grader.kernel.tensor_regions import Region, regions_of, tensors_of
from grader.operator_memory_effects import EMPTY, Watch, storages_in
from grader.performance.counting.access_trace import Drawn, Program, Step, TracedLaunch
from grader.performance.counting.counts import SECTOR
from grader.performance.counting.sectors import WARP, in_order, pattern, width
from grader.performance.counting.trace_findings import Remarks

FIRST, FINAL = 48, 16  # programs of a launch, that are drawn
STEPS = 64  # accesses of one program
REACH = 1024  # elements beside a tensor
ROOM = 1 << 16  # bytes around an argument


class Blank(Watch):  # type: ignore[no-untyped-call]
    """Notes which memory was not filled by anybody: whose elements a kernel has to store, each of them."""

    def __init__(self) -> None:
        super().__init__()
        self.made: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func._schema.name.split("::")[-1] in EMPTY:
            self.made |= storages_in([result])
        elif func._schema.is_mutable:
            self.made -= storages_in(args[:1])
        return result


class Tracer(Recorder):
    """Writes down every access of every launch.

    Args:
        path: the learner's file.
        given: addresses of the storages that the call was handed.
    """

    every = True

    def __init__(self, path: str, given: set[int]) -> None:
        self.path, self.given, self.blank = path, given, Blank()
        self.regions = []
        self.launches: list[TracedLaunch] = []
        self._drawn: dict[int, Program] = {}  # of the running launch, by number
        self.remarks = Remarks()
        self._turns: Counter[tuple[int, str, int]] = Counter()

    def touched(self, batch: Batch, touch: Touch) -> None:
        """Each program's lanes; those in no tensor load zeros, and store nothing."""
        for access in accesses(batch, touch):
            self._access(access, touch.site.line)

    def _access(self, access: Access, line: int) -> None:
        """Write one access down. What strays is only looked at, so that the rest can be drawn as well."""
        kind, addresses, mask, size = access.kind, access.addresses, access.mask, access.size
        home = _home(self.regions, addresses.reshape(-1), mask.reshape(-1))
        if home is None or not addresses.size:
            return
        elements = (addresses.astype(np.int64) - home.start) // size
        whole = (home.stop - home.start) // size
        outside = mask & ((elements < 0) | (elements >= whole))
        number = execution_position.number()
        self._turns[number, kind, line] += 1
        step = Step(
            kind=kind,
            line=line,
            time=self._turns[number, kind, line],
            times=0,  # known at the end
            tensor=home.name,
            touched=_runs(elements[mask & ~outside]),
            strays=_runs(_near(elements[outside], whole)),
            stray=int(outside.sum()),
            masked=_runs(_near(elements[~mask], whole)),
            left=int((~mask).sum()),
            **_walk(addresses - np.uint64(home.low), mask, size, (home.start - home.low) // size),
        )
        place = self._write(number, step)
        self.remarks.step(home, step, elements[mask & ~outside], number, place)

    def _write(self, number: int, step: Step) -> tuple[int, int]:
        """Where the step stands: its program's number and its own place, -1 where it is not drawn."""
        if FIRST <= number < math.prod(execution_position.grid()) - FINAL:
            return -1, -1
        if number not in self._drawn:
            self._drawn[number] = Program(list(execution_position.program()), number, [])
        steps = self._drawn[number].steps
        if len(steps) >= STEPS:
            return number, -1
        steps.append(step)
        return number, len(steps) - 1

    def launch(self, launching: Launching) -> None:
        """A launch runs as ever, and is written down."""
        self._begin(launching.kernel, launching.named())
        try:
            launching.prepare(self.path, whole=True).run(launching.grid(), self, at_once=1)
        finally:
            self._end(execution_position.grid())

    def _begin(self, kernel: Any, named: dict[str, Any]) -> None:
        tensors = {name: self._whole(tensor) for name, tensor in tensors_of(named).items()}
        self.regions = [replace(r, own=r.low in self.blank.made) for r in regions_of(tensors, {})]
        drawn = {
            name: Drawn(list(t.shape), list(t.stride()), t.element_size()) for name, t in tensors.items()
        }
        line = kernel.__code__.co_firstlineno
        self.launches.append(TracedLaunch(kernel.__name__, line, [], 0, drawn, [], []))
        self._drawn = {}
        self._turns.clear()
        self.remarks.begin(tensors)

    def _whole(self, tensor: torch.Tensor) -> torch.Tensor:
        """Of a view of memory that the call made, all of that memory: a kernel may go on from its pointer."""
        storage = tensor.untyped_storage()
        if storage.data_ptr() in self.given or storage.nbytes() == tensor.nbytes:
            return tensor
        return _flat(tensor)

    def _end(self, grid: tuple[int, ...]) -> None:
        launch = self.launches[-1]
        launch.grid, launch.total = list(grid), math.prod(grid)
        launch.programs = sorted(self._drawn.values(), key=lambda program: program.number)
        for program in launch.programs:
            for step in program.steps:
                step.times = self._turns[program.number, step.kind, step.line]
        places = {program.number: index for index, program in enumerate(launch.programs)}
        launch.findings = [
            replace(remark, program=places.get(remark.program, -1)) for remark in self.remarks.end()
        ]

    def finish(self) -> None:
        """The call is over."""
        for launch, remark in self.remarks.unwritten():
            self.launches[launch].findings.append(remark)


def _home(memory: Sequence[Region], lanes: Any, active: Any) -> Region | None:
    """The tensor that the first lane which takes part points into, or else the nearest."""
    known = [region for region in memory if region.start < region.stop]
    if not known or not lanes.size:
        return None
    at = int(lanes[active][0] if active.any() else lanes[0])
    return min(known, key=lambda region: max(region.start - at, at - region.stop + 1, 0))


def _walk(addresses: Any, mask: Any, size: int, before: int) -> dict[str, Any]:
    """How a warp goes through the access: where its lanes are, how far apart, how many sectors they touch.

    Args:
        before: elements that lie before the tensor's first one in its memory.
    """
    found = pattern(addresses, mask, size)
    ordered, active = in_order(addresses, mask)
    stride = width(found.step, size)
    first = ordered.astype(np.int64)[::stride][:WARP] // size - before
    lanes = [int(e) if a else None for e, a in zip(first, active[::stride][:WARP], strict=True)]
    needed = -(-found.useful * size // SECTOR)
    return {"lanes": lanes, "apart": found.step // size, "sectors": found.sectors, "needed": needed}


def _near(elements: Any, whole: int) -> Any:
    return elements[(elements >= -REACH) & (elements < whole + REACH)]


def _runs(elements: Any) -> list[list[int]]:
    """Sorted elements as runs of [first, count]."""
    elements = np.unique(elements)
    if not elements.size:
        return []
    breaks = np.flatnonzero(np.diff(elements) != 1) + 1
    return [[int(run[0]), len(run)] for run in np.split(elements, breaks)]


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """All of the memory that it is a view of."""
    return tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.element_size(),), (1,), 0)


def alone(tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor with so much room around that what strays from it meets no other."""
    whole = _flat(tensor)
    before = ROOM // tensor.element_size()
    room = tensor.new_zeros(whole.numel() + 2 * before)
    room[before : before + whole.numel()] = whole
    return room.as_strided(tensor.shape, tensor.stride(), before + tensor.storage_offset())


@contextlib.contextmanager
def traced(tracer: Tracer) -> Iterator[None]:
    """While the block runs, launches run as ever, and are written down."""
    with handed_to(tracer.launch), tracer.blank:
        yield
    tracer.finish()

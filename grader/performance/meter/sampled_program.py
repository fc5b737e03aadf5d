"""A kernel of which some programs run, one at a time, asking before each access whether it is to happen.

Values of floats are not computed where they cost: loads give zeros, and products what they add to. Those that
lead somewhere, integers, are real. Long loops are cut short, as loop_sampling.py has it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from grader.kernel import frontend, location, number_formats, ttir_parser
from grader.kernel.access import Access, Site
from grader.kernel.batch import Batch, whole
from grader.kernel.evaluation import launched, scalars
from grader.kernel.evaluator import Machine, Step, giving
from grader.kernel.launch_hook import Launching
from grader.kernel.memory import Bytes, applied
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Operation, Program
from grader.performance.meter.loop_operations import loop, repeat
from grader.performance.meter.loop_sampling import Loops

QUIET = ("tt.print", "tt.assert")


class Sampled(Machine):
    """One kernel, ready to run.

    Args:
        path: the learner's file.
        allows: is asked about every access that is about to happen. Where it says False nothing is stored,
            and active lanes load zeros; what it raises ends the program.
        loops: of the program that runs.
    """

    def __init__(self, program: Program, path: str, allows: Callable[[Access], bool], loops: Loops) -> None:
        self.allows, self.loops = allows, loops
        super().__init__(program, path)

    def one(self, given: list[Array], grid: tuple[int, int, int], number: int) -> None:
        """Run the program of a number.

        Raises:
            Cut: it does too much.
            OutOfBounds: a lane lies outside of every tensor.
        """
        with location.evaluated(0, [], location.place(number, grid), grid):
            self.run(given, grid, [number], self.memory, at_once=1)

    def asked(self, batch: Batch, site: Site, access: Access) -> bool:
        """Whether an access is to happen."""
        with location.evaluated(site.line, site.callers, location.program(), batch.grid):
            return self.allows(access)

    def _made(self, operation: Operation) -> Step:
        make = SAMPLED.get(operation.name)
        return giving(make(self, operation), operation.outs) if make else super()._made(operation)


M = TypeVar("M", bound=Sampled)


class Kernels(Generic[M]):
    """The kernels of a call, each made once.

    Args:
        path: the learner's file.
        make: of a program what runs it.
    """

    def __init__(self, path: str, make: Callable[[Program], M]) -> None:
        self.path, self.make = path, make
        self._known: dict[Any, M] = {}

    def of(self, launching: Launching, grid: tuple[int, int, int]) -> tuple[M, Callable[[int], None]]:
        """The kernel of a launch, and what runs its program of a number.

        Raises:
            As `grader.kernel.evaluation.prepared` does.
        """
        bound = frontend.compiled(launching.function, launching.args, dict(launching.options))
        if bound.key not in self._known:
            self._known[bound.key] = self.make(ttir_parser.program(bound.text))
        machine = self._known[bound.key]
        machine.launched[:] = launched(self.path)
        return machine, partial(machine.one, scalars(machine, bound), grid)


def _dot(_: Sampled, operation: Operation) -> Callable[[Batch], list[Array]]:
    total = operation.ins[2]
    return lambda batch: [batch[total]]


def _moves(machine: Sampled, operation: Operation) -> Callable[[Batch], list[Array]]:
    """A load or a store."""
    kind, (address, *rest) = operation.name[3:], operation.ins
    shape, element = operation.takes[0].shape, operation.takes[0].element[1:]
    value, masks = (rest[:1], rest[1:2]) if kind == "store" else ([], rest[:1])
    site = machine.places.site(operation.place, machine.launched)

    def move(batch: Batch) -> list[Array]:
        lanes, mask = _lanes(batch[address], shape), _active(batch, masks, shape)
        access = Access(kind, lanes.view(np.uint64), mask, element)
        happens = machine.asked(batch, site, access) and not access.floats
        if kind == "store":
            if happens:
                _at(lanes, mask, element, number_formats.written(whole(batch[value[0]], shape)[0], element))
            return []
        found = np.zeros((1,) * (len(shape) + 1), number_formats.carrier(element))
        if happens:
            found = number_formats.read(_at(lanes, mask, element), element).reshape(1, *shape)
        other = not access.floats and len(rest) > 1  # what lies outside of a list may lead somewhere, too
        return [np.where(mask.reshape(1, *shape), found, batch[rest[1]]) if other else found]

    return move


def _atomic_move(machine: Sampled, operation: Operation) -> Callable[[Batch], list[Array]]:
    address, *rest = operation.ins
    swap = operation.name == "tt.atomic_cas"
    op = "cas" if swap else operation.text.split(" ")[1].rstrip(",")
    values, masks = (rest[:2], []) if swap else (rest[:1], rest[1:])
    shape, element = operation.takes[1]
    site = machine.places.site(operation.place, machine.launched)

    def move(batch: Batch) -> list[Array]:
        lanes, mask = _lanes(batch[address], shape), _active(batch, masks, shape)
        access = Access("atomic", lanes.view(np.uint64), mask, element)
        old = np.zeros((1, *shape), number_formats.carrier(element))
        if machine.asked(batch, site, access) and element[0] == "i":
            given = [whole(batch[slot], shape).reshape(-1) for slot in values]
            flat = old.reshape(-1)
            for lane in np.flatnonzero(mask):
                raw, one = _raw(int(lanes.reshape(-1)[lane]), element), slice(lane, lane + 1)
                flat[one] = applied(raw, np.zeros(1, int), op, [x[one] for x in given], element, True)
        return [old]

    return move


def _lanes(address: Array, shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(whole(address, shape)[0]).reshape(shape or (1,))


def _active(batch: Batch, masks: list[int], shape: tuple[int, ...]) -> Array:
    mask = np.broadcast_to(batch[masks[0]][0] if masks else np.True_, shape)
    return mask.reshape(shape or (1,))


def _raw(address: int, element: str) -> Array:
    size = number_formats.size(element)
    return np.asarray(Bytes(address, size)).view(number_formats.RAW[size])


def _at(lanes: Array, mask: Array, element: str, bits: Array | None = None) -> Array:
    """What lies in active lanes' memory, as bits; with `bits` these are put there first."""
    size = number_formats.size(element)
    found = np.zeros(lanes.shape, number_formats.RAW[size])
    if mask.any():
        some = lanes[mask]
        low = int(some.min())
        memory = np.asarray(Bytes(low, int(some.max()) - low + size))
        index = (some - low)[:, None] + np.arange(size)
        if bits is not None:
            memory[index] = np.broadcast_to(bits, lanes.shape)[mask][:, None].view(np.uint8).reshape(-1, size)
        found[mask] = memory[index].reshape(-1, size).view(number_formats.RAW[size])[:, 0]
    return found


SAMPLED: dict[str, Callable[[Any, Operation], Callable[[Batch], Any]]] = {
    **{"tt.load": _moves, "tt.store": _moves, "tt.atomic_rmw": _atomic_move, "tt.atomic_cas": _atomic_move},
    **{"tt.dot": _dot, "scf.for": loop, "scf.while": repeat},
    **dict.fromkeys(QUIET, lambda *_: lambda _: None),
}

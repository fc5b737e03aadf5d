"""A program in TTIR, made into Python functions once, and run for all programs of a grid, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from grader.kernel import control_flow, elementwise, execution_position, reduce_scan, tile_operations
from grader.kernel.batch import Batch, whole
from grader.kernel.debug_locations import Places
from grader.kernel.memory import Memory
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Block, Operation, Program, Region, Uncompilable, Unevaluated, operations
from grader.kernel.ttir_parser import LEAVES

Step = Callable[[Batch], None]
BUDGET = 1 << 16  # elements of the largest block of a batch: its values stay in the processor's cache
NOTHING = ("llvm.intr.assume", "ttg.barrier", "gpu.barrier", "ttg.local_barrier")


class AssertionInKernel(AssertionError):
    """tl.device_assert does not hold."""


def say(text: str) -> None:
    """A kernel prints."""
    print(text)


class Machine:
    """One kernel, ready to run.

    Args:
        path: the learner's file; lines are reported in it.

    Attributes:
        alone: programs run one by one.
    """

    alone = False

    def __init__(self, program: Program, path: str) -> None:
        self.program, self.places = program, Places(program.places, path)
        self.used = set(_used(program))
        self.memory: Memory = None  # type: ignore[assignment]  # of the launch that runs
        self.launched: list[int] = []  # the lines that led to it
        self.code: dict[int, list[Step]] = {}  # by the number of a block
        self.made: dict[int, Operation] = {}  # by the id of a step
        self.ends: dict[int, Operation] = {}
        for function in program.functions.values():
            self._prepare(function.region)
        self.tile = max(map(math.prod, _shapes(program)), default=1)
        self.waits = any(one.name == "tt.atomic_cas" for one in operations(program)) or (
            any(one.name == "scf.while" for one in operations(program))
            and any(one.name == "tt.atomic_rmw" for one in operations(program))
        )

    def run(
        self,
        given: Sequence[Array],
        grid: tuple[int, int, int],
        order: Sequence[int],
        memory: Memory,
        at_once: int = 0,
    ) -> None:
        """Run all programs of a grid in this order.

        Args:
            given: the kernel's arguments, each an array of one element.
            order: programs that may wait for one another run one by one.
            at_once: how many programs are a batch; where it is 0, as many as are worth it.
        """
        self.memory = memory
        kernel = self.program.functions[self.program.kernel]
        at_a_time = at_once or (1 if self.waits or self.alone else max(BUDGET // self.tile, 1))
        with np.errstate(all="ignore"):
            for start in range(0, len(order), at_a_time):
                programs = np.array(order[start : start + at_a_time], np.int64)
                batch = Batch(self.program.slots, programs, grid)
                for slot, value in zip(kernel.region.body.args, given, strict=True):
                    batch[slot] = value
                self.begin(given)
                control_flow.follow(self, kernel.region, "", batch)

    def begin(self, given: Sequence[Array]) -> None:
        """A batch begins, with the kernel's arguments."""

    def steps(self, block: Block, batch: Batch) -> list[Array]:
        """Run a block; what its last operation hands on."""
        for step in self.code[block.number]:
            step(batch)
        return [batch[slot] for slot in self.ends[block.number].ins]

    def _prepare(self, region: Region) -> None:
        for block in region.blocks.values():
            inner = [operation for operation in block.operations if operation.name not in LEAVES]
            for operation in inner:
                for one in operation.regions:
                    self._prepare(one)
            done = [operation for operation in inner if operation.name not in NOTHING]
            self.code[block.number] = [self.step(operation) for operation in done]
            self.made |= zip(map(id, self.code[block.number]), done, strict=True)
            nothing = Operation("scf.yield", [], [], "", [], [], [], "")
            last = block.operations[-1] if block.operations else nothing
            self.ends[block.number] = last if last.name in LEAVES else nothing

    def step(self, operation: Operation) -> Step:
        """What an operation does.

        Raises:
            Uncompilable: machine code knows no such operation.
            Unevaluated: nobody has written it.
        """
        try:
            return self._made(operation)
        except (Uncompilable, Unevaluated) as error:
            error.kernel_line = self.places.site(operation.place, []).line  # type: ignore[union-attr]
            raise

    def _made(self, operation: Operation) -> Step:
        name, ins = operation.name, operation.ins
        if name in WITH_MACHINE:
            return giving(WITH_MACHINE[name](self, operation), operation.outs)
        make = tile_operations.MADE.get(name)
        function = make(operation) if make else elementwise.compute(operation)
        if function is None:
            called = "inline assembly" if name == "tt.elementwise_inline_asm" else name
            raise Unevaluated(f"{called} is not evaluated")
        return giving(lambda batch: function(*[batch[slot] for slot in ins]), operation.outs)


def giving(function: Callable[[Batch], Any], outs: list[int]) -> Step:
    """A step whose function gives a list of all results, or the only one."""

    def step(batch: Batch) -> None:
        made = function(batch)
        for out, value in zip(outs, made if type(made) is list else [made], strict=False):
            batch[out] = value

    return step


def _program(_: Machine, operation: Operation) -> Callable[[Batch], Array]:
    axis = "xyz".index(operation.text.split(" ")[1][0])
    return lambda batch: batch.place(axis)


def _programs(_: Machine, operation: Operation) -> Callable[[Batch], Array]:
    axis = "xyz".index(operation.text.split(" ")[1][0])
    return lambda batch: np.array([batch.grid[axis]], np.int32)


def _load(machine: Machine, operation: Operation) -> Callable[[Batch], Array]:
    address, *rest = operation.ins
    element = operation.takes[0].element[1:]
    site = machine.places.site(operation.place, machine.launched)

    def load(batch: Batch) -> Array:
        mask, other = ([batch[slot] for slot in rest] + [None, None])[:2]
        return machine.memory.load(batch, site, batch[address], mask, other, element)

    return load


def _store(machine: Machine, operation: Operation) -> Callable[[Batch], None]:
    address, value, *rest = operation.ins
    element = operation.takes[0].element[1:]
    site = machine.places.site(operation.place, machine.launched)

    def store(batch: Batch) -> None:
        mask = batch[rest[0]] if rest else None
        machine.memory.store(batch, site, batch[address], batch[value], mask, element)

    return store


def _atomic(machine: Machine, operation: Operation) -> Callable[[Batch], Array]:
    address, *rest = operation.ins
    swap = operation.name == "tt.atomic_cas"
    op = "cas" if swap else operation.text.split(" ")[1].rstrip(",")
    values = rest[:2] if swap else rest[:1]
    masks = [] if swap else rest[1:]
    element, wanted = operation.takes[1].element, bool(machine.used.intersection(operation.outs))
    site = machine.places.site(operation.place, machine.launched)

    def atomic(batch: Batch) -> Array:
        given, mask = [batch[slot] for slot in values], batch[masks[0]] if masks else None
        return machine.memory.atomic(batch, site, op, batch[address], given, mask, element, wanted)

    return atomic


def _print(_: Machine, operation: Operation) -> Callable[[Batch], None]:
    prefix = operation.words[0] if operation.words else ""
    kinds = operation.takes

    def show(batch: Batch) -> None:
        for number, program in enumerate(batch.programs.tolist()):
            place = str(execution_position.place(program, batch.grid))
            for slot, kind in zip(operation.ins, kinds, strict=True):
                value = whole(batch[slot], kind.shape)
                say(f"{place}{prefix and ' '}{prefix.strip()} {value[number if len(value) > 1 else 0]}")
            if not operation.ins:
                say(f"{place} {prefix}")

    return show


def _assert(machine: Machine, operation: Operation) -> Callable[[Batch], None]:
    site, words = machine.places.site(operation.place, machine.launched), operation.words

    def check(batch: Batch) -> None:
        if not batch[operation.ins[0]].all():
            error = AssertionInKernel(words[0] if words else "device_assert")
            error.kernel_line = site.line  # type: ignore[attr-defined]
            raise error

    return check


WITH_MACHINE: dict[str, Callable[[Machine, Operation], Callable[[Batch], Any]]] = {
    **{"tt.get_program_id": _program, "tt.get_num_programs": _programs, "tt.load": _load, "tt.store": _store},
    **{"tt.atomic_rmw": _atomic, "tt.atomic_cas": _atomic, "tt.print": _print, "tt.assert": _assert},
    **{"tt.reduce": reduce_scan.reduced, "tt.scan": reduce_scan.scanned, "tt.call": control_flow.call},
    **{"scf.for": control_flow.loop, "scf.if": control_flow.branch, "scf.while": control_flow.repeat},
}


def _shapes(program: Program) -> Iterator[tuple[int, ...]]:
    for operation in operations(program):
        yield from (kind.shape for kind in (*operation.takes, *operation.gives))


def _used(program: Program) -> Iterator[int]:
    for operation in operations(program):
        yield from operation.ins
        for _, given in operation.next:
            yield from given

"""Which step of a kernel made a NaN or an Inf of numbers, followed to the element that it ends in.

Beside a value that is not finite stands, of each lane, the number of the step that made it so. A lane takes
it over from the operand that it has its NaN or Inf from; where no operand has one, or NaN is made of Inf, the
step itself made it. What is stored is known by its address, for later loads, of later launches too.

Programs run one by one: so values pass through loops, branches and calls as they are, never cut or merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from grader.kernel import elementwise, evaluator, reduce_scan, tile_operations
from grader.kernel.batch import Batch
from grader.kernel.evaluator import Machine
from grader.kernel.number_formats import Array
from grader.kernel.traced_step import Step
from grader.kernel.ttir import Operation, Program

# What moves lanes: what it does to values it does to the numbers of their steps.
MOVES = {"tt.splat", "tt.unsplat", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.join", "tt.split"}
MOVES |= {"tt.cat", "tt.gather", "arith.select"}
MASKS = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2, "tt.atomic_cas": 3}  # where among operands
STORES = {"tt.store", "tt.atomic_rmw"}
ALONG = {"tt.reduce", "tt.scan"}
PASSING = {"scf.for", "scf.if", "scf.while", "tt.call"}  # on what steps in them made
DTYPES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", **elementwise.FP8}
GIVEN = 0  # no step that is known
LONGEST = 6  # steps that are told of one element


class Nonfinite:
    """The steps of one call's launches that made something else than numbers."""

    def __init__(self) -> None:
        self.steps = [Step()]
        self.stored = dict[int, int]()  # by address which of them made what is there
        self._known: dict[Any, int] = {}
        self._machines: dict[Machine, Machine] = {}

    def following(self, plain: Machine) -> Machine:
        """One that runs the same kernel, and follows its values."""
        if plain not in self._machines:
            self._machines[plain] = Following(plain.program, plain.places.path, self)
        return self._machines[plain]

    def behind(self, address: int) -> list[Step]:
        """The step that made what was stored at an address, then those that made what it was made of."""
        chain = [self.stored.get(address, GIVEN)]
        for number in chain:
            chain += [one for one in self.steps[number].behind if one not in chain]
        told = [number for number in chain[:LONGEST] if number != GIVEN]
        places = {number: place for place, number in enumerate(told)}
        steps = [self.steps[number] for number in told]
        return [replace(one, behind=[places[b] for b in one.behind if b in places]) for one in steps]

    def number(self, step: Step, *kind: Any) -> int:
        """That of a step; those of one line, name and kind share one."""
        key = step.line, step.name, step.dtype, *kind
        if key not in self._known:
            self._known[key] = len(self.steps)
            self.steps.append(step)
        return self._known[key]


class Lanes(NamedTuple):
    """Floats, and of each that is not finite the number of the step that made it so."""

    values: Array
    made: Array

    def to(self, shape: Sequence[int]) -> Lanes:
        """At full length."""
        return Lanes(*(np.broadcast_to(one, shape) for one in self))

    def worst(self, axis: int, by: Array) -> Lanes:
        """Along an axis: where the first NaN stands in `by`, or else the first Inf, or the largest number."""
        at = np.abs(by).argmax(axis, keepdims=True)
        return Lanes(*(np.take_along_axis(one, at, axis) for one in self))


class Following(Machine):
    """One kernel, whose values are followed."""

    alone = True

    def __init__(self, program: Program, path: str, seen: Nonfinite) -> None:
        self.seen, self.known = seen, dict[int, Lanes]()  # by the values' identity
        self.combining = False  # lanes of a reduction, which is one step
        super().__init__(program, path)

    def begin(self, given: Sequence[Array]) -> None:
        """A program begins: nothing is known but its arguments."""
        self.combining = False
        self.known = {identity(one): Lanes(one, np.full(one.shape, GIVEN)) for one in given}

    def _made(self, operation: Operation) -> evaluator.Step:
        step = super()._made(operation)
        if operation.name in PASSING or not operation.gives:
            return step
        origins = _Origins(self, operation)

        def followed(batch: Batch) -> None:
            if self.combining:
                return step(batch)
            self.combining = operation.name in ALONG
            step(batch)
            self.combining = False
            for place, slot in enumerate(operation.outs):
                if _odd(batch[slot]) and origins.placed:
                    value = batch[slot] = batch[slot].copy()  # it may be an operand
                    self.known[identity(value)] = Lanes(value, origins.made(batch, place, value))
            return origins.keep(batch) if operation.name in STORES else None

        return followed


class _Origins:
    """Where the results of an operation come from."""

    def __init__(self, following: Following, operation: Operation) -> None:
        self.machine, self.operation = following, operation
        self.line = following.places.site(operation.place, []).line
        # A constant that several lines have in common is of none: whoever takes it has it from its own.
        self.placed = self.line > 0 or operation.name != "arith.constant"
        element = operation.gives[-1].element.removeprefix("*")
        self.dtype, name = DTYPES.get(element, element), operation.name.partition(".")[2]
        libdevice = name == "extern_elementwise"
        self.name = elementwise.libdevice(operation.words) if libdevice else name.replace("scan", "reduce")

    def made(self, batch: Batch, place: int, value: Array) -> Array:
        """Of each lane of a result, the `place`-th of several, the number of the step that made it."""
        name, ins = self.operation.name, self.operation.ins
        if name in MASKS:
            return self._loaded(batch, value)
        if name in ALONG:
            full = self._lanes(batch, ins[place]).to((1, *self.operation.takes[place].shape))
            return self._followed_back(value, _along(self.operation, full, value))
        floats = [slot for slot in ins if batch[slot].dtype.kind == "f"]
        operands = {slot: self._lanes(batch, slot) for slot in floats}
        if name in MOVES:
            move = tile_operations.MADE[name](self.operation)
            moved = move(*(operands[slot].made if slot in operands else batch[slot] for slot in ins))
            made = moved[place] if isinstance(moved, list) else moved
            taken = np.where(made < 0, 0.0, value)  # as a gather finds beyond its table
            return self._followed_back(value, [Lanes(taken, made)])
        given = [operands[slot] for slot in floats]
        if name == "tt.dot":  # the worst factor of each row of a and of each column of b
            a, b = (one.to((1, *self.operation.takes[at].shape)) for at, one in enumerate(given[:2]))
            given[:2] = a.worst(-1, a.values), b.worst(-2, b.values)
        return self._followed_back(value, [one.to(value.shape) for one in given])

    def keep(self, batch: Batch) -> None:
        """What is stored, and where."""
        address, value = (batch[slot] for slot in self.operation.ins[:2])
        if _odd(value):
            mask = self._mask(batch)
            shape = np.broadcast_shapes(address.shape, value.shape, mask.shape)
            values, made = self._lanes(batch, self.operation.ins[1]).to(shape)
            odd = mask & ~np.isfinite(values)
            lanes = np.broadcast_to(address, shape)[odd].tolist()
            self.machine.seen.stored.update(zip(lanes, made[odd].tolist(), strict=True))

    def _mask(self, batch: Batch) -> Array:
        slots = self.operation.ins[MASKS[self.operation.name] :]
        return batch[slots[0]] if slots else np.ones(1, bool)

    def _lanes(self, batch: Batch, slot: int) -> Lanes:
        """An operand."""
        value = batch[slot]
        known = self.machine.known.get(identity(value))
        return known or Lanes(value, self._new("constant", value, [], ~np.isfinite(value)))

    def _loaded(self, batch: Batch, values: Array) -> Array:
        """What was stored by a step that is known; the others' steps are this load, or its `other=`."""
        odd, active = ~np.isfinite(values), np.broadcast_to(self._mask(batch), values.shape)
        made = np.full(values.shape, GIVEN)
        if (odd & ~active).any():
            made = np.where(active, GIVEN, self._lanes(batch, self.operation.ins[2]).made)
        address = np.broadcast_to(batch[self.operation.ins[0]], values.shape)
        for lane in zip(*(odd & active).nonzero(), strict=True):
            at = int(address[lane])
            made[lane] = self.machine.seen.stored.get(at) or self._found(at, float(values[lane]))
        return made

    def _found(self, address: int, value: float) -> int:
        regions = self.machine.memory.recorder.regions
        home = next((one for one in regions if one.low <= address < one.high), None)
        name, offset = (home.name, address - home.low) if home else ("", 0)
        step = Step(self.line, "load", self.dtype, [], value, [], name, offset)
        return self.machine.seen.number(step, name, str(value))

    def _followed_back(self, values: Array, given: list[Lanes]) -> Array:
        """Where each lane of the result is made of one lane of each operand."""
        made, left, nan = np.full(values.shape, GIVEN), ~np.isfinite(values), np.isnan(values)
        for operand in given:
            same = left & np.where(nan, np.isnan(operand.values), np.isinf(operand.values))
            made[same], left = operand.made[same], left & ~same
        return made + self._new(self.name, values, given, left)

    def _new(self, name: str, results: Array, of: list[Lanes], where: Array) -> Array:
        """The numbers of steps that are new, in some lanes; those of one kind share one."""
        made = np.full(results.shape, GIVEN)
        if where.any():
            results, of = results[where], [Lanes(*(each[where] for each in one)) for one in of]
            kinds = np.stack([_kind(results), *(_kind(one.values) for one in of), *(one.made for one in of)])
            _, first, lanes = np.unique(kinds, axis=1, return_index=True, return_inverse=True)
            numbers = []
            for lane in first:
                operands = [float(one.values[lane]) for one in of]
                behind = [n for n in dict.fromkeys(int(one.made[lane]) for one in of) if n > GIVEN]
                step = Step(self.line, name, self.dtype, operands, float(results[lane]), behind)
                numbers.append(self.machine.seen.number(step, *kinds[:, lane].tolist()))
            made[where] = np.array(numbers)[lanes.reshape(-1)]
        return made


def identity(value: Array) -> int:
    """What id says; but to ask id is one of Python's audits."""
    return object.__hash__(value)


def _odd(value: Array) -> bool:
    """Whether it is a float, and not finite."""
    return value.dtype.kind == "f" and not np.isfinite(value).all()


def _kind(values: Array) -> Array:
    """0 for 0, ±1 for numbers, ±2 for Inf, 3 for NaN."""
    return np.where(np.isnan(values), 3, np.sign(values) * (1 + np.isinf(values)))


def _along(operation: Operation, given: Lanes, result: Array) -> list[Lanes]:
    """Of a reduction or a scan, along its axis: the worst lane that is not below 0, and the worst below."""
    axis, below = reduce_scan.axis_of(operation), given.values < 0
    sides = (given.worst(axis, np.where(below == side, given.values, 0.0)) for side in (False, True))
    if operation.name == "tt.reduce":
        sides = (Lanes(*(one.squeeze(axis) for one in side)) for side in sides)
    return [side.to(result.shape) for side in sides]

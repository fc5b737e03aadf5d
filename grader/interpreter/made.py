"""Which step of a kernel made a NaN or an Inf of numbers, followed to the element that it ends in.

While launches are traced, a block carries beside its values the number of the step that made each lane that
is no number. A lane takes it over from the operand that it has its NaN or Inf from; where no operand has one,
or NaN is made of Inf, the step itself made it. Stores keep the numbers by address, for the loads after them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from grader.interpreter import fp8, whereabouts
from grader.interpreter.bf16 import is_bf16, widen
from grader.interpreter.regions import Region
from grader.interpreter.step import Step

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
_builder: Any = interpreter.interpreter_builder
CONSTANTS = {"get_fp16", "get_bf16", "get_fp32", "get_fp64"}
# What moves lanes: what it does to values it does to the numbers of their steps.
MOVES = {"broadcast", "expand_dims", "reshape", "trans", "splat", "unsplat", "cat", "join", "split", "gather"}
STORES = {"masked_store": slice(0, 3), "atomic_rmw": slice(1, 4)}  # where pointers, values and mask stand
GIVEN = 0  # no step that is known
LONGEST = 6  # steps that are told of one element


class Made:
    """The steps of one call's launches that made something else than numbers.

    Args:
        path: the learner's file.
        regions: the memory of the launch that runs.
    """

    def __init__(self, path: str, regions: Callable[[], list[Region]]) -> None:
        self.path, self.regions = path, regions
        self.steps = [Step()]
        self._known: dict[Any, int] = {}
        self._stored: dict[int, int] = {}  # by address

    @contextmanager
    def traced(self) -> Iterator[None]:
        """While the block runs, launches are."""
        names = [name for name in dir(_builder) if name.startswith("create_") or name in CONSTANTS]
        methods: dict[str, Any] = {name: self._followed(name, getattr(_builder, name)) for name in names}
        reduce, scan = interpreter.ReduceOps, interpreter.ScanOps
        with (
            mock.patch.multiple(_builder, **methods),
            mock.patch.object(reduce, "apply_impl", self._along(reduce.apply_impl)),
            mock.patch.object(scan, "apply_impl", self._along(scan.apply_impl)),
        ):
            yield

    def behind(self, address: int) -> list[Step]:
        """The step that made what was stored at an address, then those that made what it was made of."""
        chain = [self._stored.get(address, GIVEN)]
        for number in chain:
            chain += [one for one in self.steps[number].behind if one not in (GIVEN, *chain)]
        told = [number for number in chain[:LONGEST] if number != GIVEN]
        places = {number: place for place, number in enumerate(told)}
        steps = [self.steps[number] for number in told]
        return [replace(one, behind=[places[b] for b in one.behind if b in places]) for one in steps]

    def past_half(self) -> list[Step]:
        """The steps that made an Inf of fp16 out of finite numbers, wherever it ended."""
        half = (one for one in self.steps if one.dtype == "fp16" and one.operands and math.isinf(one.result))
        return [replace(one, behind=[]) for one in half if all(map(math.isfinite, one.operands))][:LONGEST]

    def _followed(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        step = "constant" if name in CONSTANTS else name.removeprefix("create_")

        def call(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            if step in STORES:
                self._keep(*args[STORES[step]])
            for place, one in enumerate(result if isinstance(result, tuple) else (result,)):
                values = None if hasattr(one, "made") else floats(one)
                if values is not None and not np.isfinite(values).all():
                    name = args[0] if step == "libdevice" else step
                    one.made = self._of_lanes(name, method, args, place, one)
            return result

        return call

    def _of_lanes(
        self, step: str, method: Callable[..., Any], args: Sequence[Any], place: int, result: Any
    ) -> Array:
        """Of each lane of a result, the `place`-th of several, the number of the step that made it."""
        if step == "masked_load":
            return self._loaded(args[0], args[1], args[2], result)
        if step == "select":
            return np.where(args[0].data, _made(args[1]), _made(args[2]))
        if step in MOVES:
            moved = method(*(arg if floats(arg) is None else _Handle(_made(arg), tl.int32) for arg in args))
            return self._moved(step, result, (moved[place] if isinstance(moved, tuple) else moved).data)
        operands = [arg for arg in args if floats(arg) is not None]
        values = [floats(one) for one in operands]
        steps = [_made(one) for one in operands]
        if step == "dot" and len(operands) == 3:
            return self._followed_back(step, result, *_multiplied(values, steps, floats(result)))
        shape = floats(result).shape
        fitting = [place for place, one in enumerate(values) if one.shape == shape or one.size == 1]
        spread = [[_spread(arrays[place], shape) for place in fitting] for arrays in (values, steps)]
        return self._followed_back(step, result, *spread)

    def _moved(self, step: str, result: Any, made: Array) -> Array:
        """The same of lanes that came from elsewhere; a gather beyond its table has no lane to move."""
        values = floats(result)
        lost = (made < 0) & ~np.isfinite(values)
        if lost.any():
            made = np.where(
                lost, self._new(step, str(result.dtype.scalar), [], values[lost][:1], [])[0], made
            )
        return made

    def _followed_back(self, step: str, result: Any, given: list[Array], steps: list[Array]) -> Array:
        """The same, where each lane of the result is made of one lane of each operand."""
        values = floats(result)
        made, left, nan = np.zeros(values.shape, np.int32), ~np.isfinite(values), np.isnan(values)
        for operand, number in zip(given, steps, strict=True):
            same = left & np.where(nan, np.isnan(operand), np.isinf(operand))
            made[same], left = number[same], left & ~same
        if left.any():
            of, behind = [one[left] for one in given], [one[left] for one in steps]
            made[left] = self._new(step, str(result.dtype.scalar), of, values[left], behind)
        return made

    def _new(self, name: str, dtype: str, of: list[Array], results: Array, behind: list[Array]) -> Array:
        """The numbers of steps that are new, for lanes side by side; those of one kind share one."""
        line = whereabouts.line(self.path)
        kinds = np.stack([*map(_kind, [results, *of]), *behind]).astype(np.int64)
        _, first, lanes = np.unique(kinds, axis=1, return_index=True, return_inverse=True)
        numbers = []
        for lane in first:
            operands = [float(one[lane]) for one in of]
            before = list(dict.fromkeys(int(one[lane]) for one in behind))
            step = Step(line, name, dtype, operands, float(results[lane]), before)
            numbers.append(self._number((line, name, dtype, *kinds[:, lane]), step))
        return np.array(numbers, np.int32)[lanes.reshape(-1)]

    def _number(self, key: Any, step: Step) -> int:
        if key not in self._known:
            self._known[key] = len(self.steps)
            self.steps.append(step)
        return self._known[key]

    def _loaded(self, pointers: Any, mask: Any, other: Any, result: Any) -> Array:
        """What was stored by a step that is known; the others' steps are this load, or its `other=`."""
        values, line, dtype = floats(result), whereabouts.line(self.path), str(result.dtype.scalar)
        odd, active = ~np.isfinite(values), np.broadcast_to(mask.data, values.shape)
        others = GIVEN if other is None else np.broadcast_to(_made(other), values.shape)
        made = np.where(odd & ~active, others, GIVEN).astype(np.int32)
        for lane in zip(*(odd & active).nonzero(), strict=True):
            address = int(pointers.data[lane])
            known = self._stored.get(address)
            made[lane] = known or self._from_memory(line, address, dtype, float(values[lane]))
        return made

    def _from_memory(self, line: int, address: int, dtype: str, value: float) -> int:
        home = next((one for one in self.regions() if one.low <= address < one.high), None)
        name, offset = (home.name, address - home.low) if home else ("", 0)
        step = Step(line, "load", dtype, [], value, [], name, offset)
        return self._number((line, "load", name, str(value)), step)

    def _keep(self, pointers: Any, value: Any, mask: Any) -> None:
        """What is stored, and where."""
        values = floats(value)
        if values is None or np.isfinite(values).all():
            return
        shape = pointers.data.shape
        values, made = np.broadcast_to(values, shape), np.broadcast_to(_made(value), shape)
        odd = np.broadcast_to(mask.data, shape) & ~np.isfinite(values)
        self._stored.update(zip(pointers.data[odd].tolist(), made[odd].tolist(), strict=True))

    def _along(self, stock: Callable[..., Any]) -> Callable[..., Any]:
        """A reduction or a scan: lanes along its axis meet."""

        def apply_impl(own: Any, given: Any) -> Any:
            results = stock(own, given)
            pairs = zip(given, results if isinstance(results, tuple | list) else [results], strict=False)
            for block, result in pairs:
                values = floats(result.handle)
                if values is not None and not np.isfinite(values).all():
                    reduced = _reduced(block.handle, getattr(own.axis, "value", own.axis), result.handle)
                    result.handle.made = self._followed_back("reduce", result.handle, *reduced)
            return results

        return apply_impl


def floats(handle: Any) -> Array:
    """A block's values where they are floats; else None."""
    if type(handle) is not _Handle or type(handle.data) is not np.ndarray:
        return None
    if handle.data.dtype.kind == "f":
        return handle.data
    if fp8.is_fp8(handle):
        return fp8.widen(handle)
    return widen(handle.data) if handle.data.dtype == np.uint16 and is_bf16(handle) else None


def _made(handle: Any) -> Array:
    """Of each lane the number of the step that made it."""
    made = getattr(handle, "made", None)
    fits = made is not None and made.shape == handle.data.shape
    return made if fits else np.full(handle.data.shape, GIVEN, np.int32)


def _kind(values: Array) -> Array:
    """0 for 0, ±1 for numbers, ±2 for Inf, 3 for NaN."""
    signs = np.sign(np.nan_to_num(values, nan=0.0))
    return np.where(np.isnan(values), 3, np.where(np.isinf(values), 2 * signs, signs))


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(array.reshape(()) if array.size == 1 else array, shape)


def _worst(values: Array, axis: int) -> Array:
    """Along an axis: where the first NaN stands, or else the first Inf, or the largest number."""
    sizes = np.where(np.isnan(values), 2.0, np.where(np.isinf(values), 1.0, 0.0))
    largest = np.abs(np.where(sizes > 0, 0.0, values)).argmax(axis, keepdims=True)
    return np.where(sizes.any(axis, keepdims=True), sizes.argmax(axis, keepdims=True), largest)


def _multiplied(values: list[Array], steps: list[Array], result: Array) -> tuple[list[Array], list[Array]]:
    """Of a dot: the worst factor of each row of a and of each column of b, and what is added to."""
    shape, given, numbers = result.shape, list[Array](), list[Array]()
    for value, step, axis in zip(values[:2], steps[:2], (-1, -2), strict=True):
        at = _worst(value, axis)
        for into, array in ((given, value), (numbers, step)):
            into.append(np.broadcast_to(np.take_along_axis(array, at, axis), shape))
    added = [np.broadcast_to(array[2], shape) for array in (values, steps)]
    return [*given, added[0]], [*numbers, added[1]]


def _reduced(block: Any, axis: int | None, result: Any) -> tuple[list[Array], list[Array]]:
    """Of a reduction or a scan, along its axis: the worst lane that is not below 0, and the worst below."""
    shape, values, made = floats(result).shape, floats(block), _made(block)
    if axis is None:
        values, made, axis = values.reshape(-1), made.reshape(-1), 0
    given, numbers = list[Array](), list[Array]()
    for signed in (np.where(values < 0, 0.0, values), np.where(values < 0, values, 0.0)):
        at = _worst(signed, axis)
        for into, array in ((given, values), (numbers, made)):
            taken = np.take_along_axis(array, at, axis)
            fits = taken.size == np.prod(shape, dtype=int)
            into.append(taken.reshape(shape) if fits else np.broadcast_to(taken, shape))
    return given, numbers

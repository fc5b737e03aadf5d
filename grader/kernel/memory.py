"""Loads, stores and atomics of a batch of programs, on the memory that a launch may touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.kernel import number_formats
from grader.kernel.access import Site, Touch
from grader.kernel.access_analysis import Recorder
from grader.kernel.batch import Batch
from grader.kernel.number_formats import Array
from grader.kernel.tensor_regions import Region


class Bytes:
    """Memory at an address, for NumPy; by ctypes each look would be one of Python's audits."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (count,),
            "typestr": "|u1",
            "version": 3,
        }


class Memory:
    """The memory that the regions of a launch cover.

    Kernels have copies of it: what else reads it or writes to it meanwhile, another process or a thread,
    meets no kernel there.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._raw: dict[tuple[int, int], Array] = {}
        self._copies: dict[int, tuple[Array, Array]] = {}  # by address, what is there and the kernels' own

    def load(
        self, batch: Batch, site: Site, address: Array, mask: Array | None, other: Array | None, element: str
    ) -> Array:
        """Active lanes from memory, the others of `other`, or 0 where nothing is said."""
        kind, size = number_formats.carrier(element), number_formats.size(element)
        if mask is not None:
            if mask.all():
                mask = None
            elif not (mask.any() or self.recorder.every):
                shape = np.broadcast_shapes(mask.shape, address.shape)
                return np.zeros((1,) * len(shape), kind) if other is None else other
            else:
                mask, address = np.broadcast_arrays(mask, address)
        home = self.recorder.touched(batch, Touch("load", site, address, mask, size, element))
        if home is None:
            values = self._scattered(address, mask, size, element)
        else:
            offset = address - np.int64(home.low)
            if mask is not None:
                offset = np.where(mask, offset, offset.flat[int(mask.argmax())])
            values = number_formats.read(self._elements(home, size).take(offset >> _shift(size)), element)
        if mask is None:
            return values
        return np.where(mask, values, kind(0) if other is None else other)

    def store(
        self, batch: Batch, site: Site, address: Array, value: Array, mask: Array | None, element: str
    ) -> None:
        """Active lanes into memory; of programs that meet in an element the last one drawn wins."""
        size = number_formats.size(element)
        if mask is not None and mask.all():
            mask = None
        if mask is not None and not (mask.any() or self.recorder.every):
            return
        shape = batch.size, *np.broadcast_shapes(address.shape[1:], value.shape[1:])
        if mask is not None:
            shape = np.broadcast_shapes(shape, mask.shape)
            mask = np.broadcast_to(mask, shape)
        address, value = np.broadcast_to(address, shape), np.broadcast_to(value, shape)
        bits = number_formats.written(value, element)
        home = self.recorder.touched(batch, Touch("store", site, address, mask, size, element, bits))
        if mask is not None:
            address, bits = address[mask], bits[mask]
        if home is not None:
            self._elements(home, size)[(address - np.int64(home.low)) >> _shift(size)] = bits
            return
        for region, inside in self._regions(address, size):
            self._elements(region, size)[(address[inside] - region.low) >> _shift(size)] = bits[inside]

    def atomic(
        self,
        batch: Batch,
        site: Site,
        op: str,
        address: Array,
        values: list[Array],
        mask: Array | None,
        element: str,
        wanted: bool,
    ) -> Array:
        """What was there before; lanes one after another, in the order of the programs as they were drawn.

        Args:
            values: what is added or the like; of a compare-and-swap what is expected, then what is put there.
            wanted: whether somebody asks for what was there.
        """
        size = number_formats.size(element)
        shape = batch.size, *np.broadcast_shapes(address.shape[1:], values[0].shape[1:])
        old = np.zeros(shape, number_formats.carrier(element))
        live = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape)
        if not (live.any() or self.recorder.every):
            return old
        address = np.broadcast_to(address, shape)
        given = [np.broadcast_to(value, shape)[live] for value in values]
        home = self.recorder.touched(batch, Touch("atomic", site, address, live, size, element, op=op))
        found = np.empty(int(live.sum()), old.dtype)
        lanes = address[live]
        for region, inside in [(home, slice(None))] if home else self._regions(lanes, size):
            index = (lanes[inside] - region.low) >> _shift(size)
            some = [value[inside] for value in given]
            found[inside] = applied(self._elements(region, size), index, op, some, element, wanted)
        old[live] = found
        return old

    def settle(self) -> None:
        """The launch is over: what it stored is there for all."""
        for real, copy in self._copies.values():
            real[:] = copy

    def _elements(self, region: Region, size: int) -> Array:
        """All of a storage's memory as elements of a size."""
        key = region.low, size
        if region.low not in self._copies:
            real = np.asarray(Bytes(region.low, region.high - region.low))
            self._copies[region.low] = real, real.copy()
        if key not in self._raw:
            count = (region.high - region.low) // size * size
            self._raw[key] = self._copies[region.low][1][:count].view(number_formats.RAW[size])
        return self._raw[key]

    def _regions(self, lanes: Array, size: int) -> Any:
        """Of lanes that lie in several storages: each, and which of them lie there."""
        for region in self.recorder.regions:
            inside = (lanes >= region.low) & (lanes + size <= region.high)
            if inside.any():
                yield region, inside

    def _scattered(self, address: Array, mask: Array | None, size: int, element: str) -> Array:
        raw = np.zeros(address.shape, number_formats.RAW[size])
        live = np.ones(address.shape, bool) if mask is None else mask
        for region, inside in self._regions(address, size):
            at = inside & live
            raw[at] = self._elements(region, size)[(address[at] - region.low) >> _shift(size)]
        return number_formats.read(raw, element)


def _shift(size: int) -> int:
    return size.bit_length() - 1


SIMPLE: dict[str, Any] = {
    **{"add": np.add, "fadd": np.add, "max": np.maximum, "min": np.minimum},
    **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
}


def applied(raw: Array, index: Array, op: str, values: list[Array], element: str, wanted: bool) -> Array:
    """Lanes one after another; what was there before each."""
    if not wanted and op in ("add", "fadd") and element not in number_formats.NARROW:
        np.add.at(raw.view(number_formats.carrier(element)), index, values[0])
        return values[0]
    if len(index) == 1 or len(np.unique(index)) == len(index):
        before = number_formats.read(raw[index], element)
        raw[index] = number_formats.written(_changed(op, before, values), element)
        return before
    old = np.empty(len(index), number_formats.carrier(element))
    for lane, at in enumerate(index):
        one = slice(lane, lane + 1)
        before = number_formats.read(raw[at : at + 1], element)
        old[one] = before
        raw[at : at + 1] = number_formats.written(
            _changed(op, before, [value[one] for value in values]), element
        )
    return old


def _changed(op: str, before: Array, values: list[Array]) -> Array:
    """What an atomic leaves behind."""
    if op == "cas":
        return np.where(before == values[0], values[1], before)
    if op == "exch":
        return values[0]
    if op in ("umax", "umin"):
        kind = number_formats.UNSIGNED[before.dtype]
        function = np.maximum if op == "umax" else np.minimum
        return function(before.view(kind), values[0].view(kind)).view(before.dtype)
    return SIMPLE[op](before, values[0])

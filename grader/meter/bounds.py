"""Every address a kernel touches in the interpreter, held against the tensors it was given.

All loads, stores and atomics of the interpreter go through one C module; it is replaced by a proxy that
looks at the addresses first. An access outside every tensor would hit whatever lies there, or kill the
process: it stops the kernel with the line that did it. An access in the guard words around a tensor is let
    through and noted.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from triton.runtime import interpreter


class OutOfBounds(RuntimeError):
    """A kernel touched memory that belongs to no tensor it was given."""


@dataclass(frozen=True)
class Region:
    """Memory of one tensor: data in [start, stop), guard words around it in [low, high); byte addresses."""

    name: str
    low: int
    start: int
    stop: int
    high: int


@dataclass(frozen=True)
class Overrun:
    """An access beside a tensor. `elements` is how far past the end (positive) or before the start
    (negative).
    """

    kind: str
    tensor: str
    line: int
    program: tuple[int, int, int]
    lanes: int
    elements: int


class Bounds:
    """Watches the launches of one call.

    Args:
        path: the learner's file; lines are reported in it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.regions: list[Region] = []
        self.overruns: dict[tuple[str, int], Overrun] = {}

    def report(self) -> list[dict[str, Any]]:
        """What was noted, one entry a line and kind."""
        return [asdict(overrun) for overrun in self.overruns.values()]

    def check(self, kind: str, addresses: Any, mask: Any, size: int) -> None:
        """Hold one access of `size` bytes a lane against the regions.

        Raises:
            OutOfBounds: a lane lies outside every region.
        """
        lanes = addresses[np.broadcast_to(mask, addresses.shape)]
        if lanes.size == 0:
            return
        low, high = int(lanes.min()), int(lanes.max()) + size
        home = next((r for r in self.regions if r.low <= low and high <= r.high), None)
        if home is None:
            home = self._stray(kind, lanes, size)
        if home is not None and (low < home.start or high > home.stop):
            self._note(kind, home, lanes, size)

    def _stray(self, kind: str, lanes: Any, size: int) -> Region | None:
        """The lanes fit no single region: fine when each fits one (a table of pointers), else the kernel
        stops here.
        """
        lost = np.ones(lanes.shape, bool)
        for region in self.regions:
            lost &= ~((lanes >= region.low) & (lanes + np.uint64(size) <= region.high))
        if not lost.any():
            return None
        first = int(lanes[lost][0])
        nearest = min(
            self.regions, key=lambda r: min(abs(first - r.start), abs(first - r.stop)), default=None
        )
        where = "no tensor was passed"
        if nearest is not None:
            past = (
                (first - nearest.stop) // size + 1
                if first >= nearest.start
                else (first - nearest.start) // size
            )
            side = f"{past} elements past the end" if past > 0 else f"{-past} elements before the start"
            where = f"{side} of {nearest.name}"
        raise OutOfBounds(
            f"line {self._line()} {kind}s {where} ({int(lost.sum())} lanes, program {_program()})"
        )

    def _note(self, kind: str, home: Region, lanes: Any, size: int) -> None:
        line = self._line()
        if (kind, line) in self.overruns:
            return
        outside = (lanes < home.start) | (lanes + np.uint64(size) > home.stop)
        worst = int(lanes.max()) + size - home.stop
        elements = worst // size if worst > 0 else (int(lanes.min()) - home.start) // size
        self.overruns[kind, line] = Overrun(kind, home.name, line, _program(), int(outside.sum()), elements)

    def _line(self) -> int:
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0


def _program() -> tuple[int, int, int]:
    return tuple(int(i) for i in interpreter.interpreter_builder.grid_idx)  # type: ignore[return-value]


class _Proxy:
    """Stands in for the interpreter's C module."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.bounds: Bounds | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def load(self, ptrs: Any, mask: Any, other: Any, dtype: Any) -> Any:
        if self.bounds:
            self.bounds.check("load", ptrs, mask, np.dtype(dtype).itemsize)
        return self._real.load(ptrs, mask, other, dtype)

    def store(self, ptrs: Any, value: Any, mask: Any) -> Any:
        if self.bounds:
            self.bounds.check("store", ptrs, mask, value.dtype.itemsize)
        return self._real.store(ptrs, value, mask)

    def atomic_rmw(self, op: Any, ptrs: Any, value: Any, mask: Any, sem: Any) -> Any:
        if self.bounds:
            self.bounds.check("atomic", ptrs, mask, value.dtype.itemsize)
        return self._real.atomic_rmw(op, ptrs, value, mask, sem)

    def atomic_cas(self, ptrs: Any, compare: Any, value: Any, sem: Any) -> Any:
        if self.bounds:
            self.bounds.check("atomic", ptrs, np.True_, value.dtype.itemsize)
        return self._real.atomic_cas(ptrs, compare, value, sem)


_proxy: Any = _Proxy(interpreter._interpreter)


def install() -> None:
    """Put the proxy in place of the interpreter's C module."""
    interpreter._interpreter = _proxy


def watch(bounds: Bounds | None) -> None:
    """Hold every access from here on against `bounds`; None stops watching."""
    _proxy.bounds = bounds

"""Every address a kernel touches in the interpreter, held against the tensors it was given.

All loads, stores and atomics of the interpreter go through one C module; it is replaced by a proxy that
looks at the addresses first. An access outside every tensor would hit whatever lies there, or kill the
process: it stops the kernel with the line that did it. An access in the guard words around a tensor is let
    through and noted.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from triton.runtime import interpreter

from grader.interpreter.races import Races
from grader.interpreter.regions import Access, OutOfBounds, Overrun, Region

__all__ = ["Access", "Bounds", "OutOfBounds", "Overrun", "Region", "install", "watch"]

FAR = 1 << 40  # elements; an address this far off comes from no tensor, an empty one's (0) for example


class Bounds:
    """Watches the launches of one call.

    Args:
        path: the learner's file; lines are reported in it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.regions: list[Region] = []
        self.overruns: dict[tuple[str, int], Overrun] = {}
        self.races = Races(self.line)

    def launch(self, regions: list[Region]) -> None:
        """A launch begins, on the tensors of these regions."""
        self.regions = regions
        self.races.launch()

    def skips(self, dtype: Any) -> bool:
        """Whether the access that was just checked is left undone: nothing is read or written."""
        return False

    def report(self) -> list[Overrun]:
        """What was noted, one entry a line and kind."""
        return list(self.overruns.values())

    def check(self, kind: str, addresses: Any, mask: Any, size: int) -> Region | None:
        """Hold one access of `size` bytes a lane against the regions.

        Returns:
            the region that all lanes lie in, if there is one and they stay within its data.

        Raises:
            OutOfBounds: a lane lies outside every region.
        """
        mask = np.broadcast_to(mask, addresses.shape)
        lanes = addresses[mask]
        if lanes.size == 0:
            return None
        low, high = int(lanes.min()), int(lanes.max()) + size
        home = next((r for r in self.regions if r.low <= low and high <= r.high), None)
        if home is not None and home.start <= low and high <= home.stop:
            return home
        access = Access(kind, lanes, size, lanes.size < addresses.size, addresses.ndim > 1)
        if home is not None:
            outside = (lanes < home.start) | (lanes + np.uint64(size) > home.stop)
            self._note(access, home, int(lanes.max()) if high > home.stop else low, int(outside.sum()))
        else:
            self._stray(access)
        return None

    def _stray(self, access: Access) -> None:
        """The lanes fit no single region: fine if each fits one (a table of pointers), else it stops."""
        lost = np.ones(access.lanes.shape, bool)
        for region in self.regions:
            inside = (access.lanes >= region.low) & (access.lanes + np.uint64(access.size) <= region.high)
            lost &= ~inside
        if not lost.any():
            return
        first = int(access.lanes[lost][0])
        near = [r for r in self.regions if r.start < r.stop]
        home = min(near, key=lambda r: min(abs(first - r.start), abs(first - r.stop)), default=None)
        noted = self._note(access, home or Region("", 0, first, first, 0), first, int(lost.sum()), fatal=True)
        raise OutOfBounds(f"line {noted.line} {access.kind}s {noted.where}")

    def _note(self, access: Access, home: Region, worst: int, outside: int, fatal: bool = False) -> Overrun:
        """Keep one overrun a line and kind: the first seen, unless a later one is fatal."""
        line = self.line()
        offsets = (access.lanes.astype(np.int64) - home.start) // access.size
        noted = Overrun(
            access.kind,
            home.name,
            line,
            _program(),
            _where(home, worst, access.size),
            outside,
            access.masked,
            access.tile,
            crowded=access.lanes.size > (home.stop - home.start) // access.size,
            step=int(np.gcd.reduce(offsets)),
            itemsize=access.size,
        )
        if fatal or (access.kind, line) not in self.overruns:
            self.overruns[access.kind, line] = noted
        return noted

    def line(self) -> int:
        """The line of the learner's file that is running."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0


def _where(home: Region, address: int, size: int) -> str:
    past = (address - home.stop) // size + 1 if address >= home.start else (address - home.start) // size
    if not home.name or abs(past) > FAR:
        return "where no tensor is"
    elements = "1 element" if abs(past) == 1 else f"{abs(past)} elements"
    return f"{elements} {'past the end' if past > 0 else 'before the start'} of {home.name}"


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
            home = self.bounds.check("load", ptrs, mask, np.dtype(dtype).itemsize)
            if home is not None and home.own:
                where = _elements(home, ptrs, mask, np.dtype(dtype).itemsize)
                self.bounds.races.load(*where, np.dtype(dtype), _number())
            if self.bounds.skips(np.dtype(dtype)):
                return np.zeros(ptrs.shape, dtype)
        return self._real.load(ptrs, mask, other, dtype)

    def store(self, ptrs: Any, value: Any, mask: Any) -> Any:
        if self.bounds:
            home = self.bounds.check("store", ptrs, mask, value.dtype.itemsize)
            if home is not None and home.own:
                where = _elements(home, ptrs, mask, value.dtype.itemsize)
                values = np.broadcast_to(value, ptrs.shape)[np.broadcast_to(mask, ptrs.shape)]
                self.bounds.races.store(*where, values, _number())
            if self.bounds.skips(value.dtype):
                return None
        return self._real.store(ptrs, value, mask)

    def atomic_rmw(self, op: Any, ptrs: Any, value: Any, mask: Any, sem: Any) -> Any:
        if self.bounds:
            self.bounds.check("atomic", ptrs, mask, value.dtype.itemsize)
            # bf16 comes as its bits, uint16; counters and locks are wider.
            counts = value.dtype.kind in "iu" and value.dtype.itemsize >= 4
            self.bounds.races.ordered |= counts or "XCHG" in str(op)
            if self.bounds.skips(value.dtype):
                return np.zeros(ptrs.shape, value.dtype)
        return self._real.atomic_rmw(op, ptrs, value, mask, sem)

    def atomic_cas(self, ptrs: Any, compare: Any, value: Any, sem: Any) -> Any:
        if self.bounds:
            self.bounds.check("atomic", ptrs, np.True_, value.dtype.itemsize)
            self.bounds.races.ordered = True
        return self._real.atomic_cas(ptrs, compare, value, sem)


def _elements(home: Region, ptrs: Any, mask: Any, size: int) -> tuple[int, int, Any]:
    """The region's start, how many elements it has, and which of them an access touches."""
    lanes = ptrs[np.broadcast_to(mask, ptrs.shape)]
    return home.start, (home.stop - home.start) // size, (lanes.astype(np.int64) - home.start) // size


def is_float(dtype: Any) -> bool:
    """bf16 comes as its bits, uint16."""
    return bool(dtype.kind == "f" or dtype == np.uint16)


def _number() -> int:
    """The running program as one number, from 1."""
    x, y, z = _program()
    nx, ny, _ = interpreter.interpreter_builder.grid_dim
    return 1 + x + int(nx) * (y + int(ny) * z)


_proxy: Any = _Proxy(interpreter._interpreter)


def install() -> None:
    """Put the proxy in place of the interpreter's C module."""
    interpreter._interpreter = _proxy


def watch(bounds: Bounds | None) -> None:
    """Hold every access from here on against `bounds`; None stops watching."""
    _proxy.bounds = bounds

"""Memory as the stores of kernels leave it, held against the memory that is there.

In the interpreter a kernel's memory is this process's: other code, and other processes where it is shared,
can write to it while the kernel runs. What a kernel meets there must be what kernels stored, or what was
there before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from grader.interpreter.watcher import Access, Watcher


class Piece(NamedTuple):
    """One storage: its bytes, and what they should be."""

    name: str
    low: int
    real: Any
    copy: Any


class Shadow:
    """Watches launches on behalf of another watcher, too.

    Args:
        memory: names, and the bytes of storages: numpy's uint8 arrays over the memory itself.
    """

    def __init__(self, memory: Iterable[tuple[str, Any]]) -> None:
        self.pieces = [Piece(name, real.ctypes.data, real, real.copy()) for name, real in memory]
        self.changed = dict[str, None]()  # names, in the order in which they were noticed
        self.watcher: Watcher | None = None
        self.unsettled: tuple[Any, int] | None = None  # lanes of an atomic that may have happened by now

    def over(self, watcher: Watcher) -> Shadow:
        """This, as a launch begins that `watcher` is to be asked about as well; memory is right as it is."""
        self.watcher = watcher
        for piece in self.pieces:
            piece.copy[:] = piece.real
        return self

    def allows(self, access: Access) -> bool:
        """What the other watcher says of the access."""
        self._settle()
        lanes, size = access.lanes, access.size
        if access.kind != "store":
            for piece, at, _ in self._parts(lanes, size):
                self._hold(piece, piece.real[at], piece.copy[at])
        assert self.watcher is not None
        allowed = self.watcher.allows(access)
        if access.kind == "store":
            self._store(access)
        elif access.kind == "atomic":
            self.unsettled = lanes, size
        return allowed

    def look(self) -> None:
        """The launch is over: hold all of the memory against what it should be."""
        self._settle()
        for piece in self.pieces:
            self._hold(piece, piece.real, piece.copy)

    def _hold(self, piece: Piece, real: Any, copy: Any) -> None:
        if not np.array_equal(real, copy):
            self.changed[piece.name] = None

    def _store(self, access: Access) -> None:
        lanes, size = access.lanes, access.size
        values = np.broadcast_to(access.value, access.addresses.shape)[access.mask].astype(access.dtype)
        written = np.ascontiguousarray(values).view(np.uint8).reshape(-1, size)
        for piece, at, inside in self._parts(lanes, size):
            piece.copy[at] = written[inside]

    def _settle(self) -> None:
        """What an atomic made of its lanes is the kernel's."""
        if self.unsettled:
            for piece, at, _ in self._parts(*self.unsettled):
                piece.copy[at] = piece.real[at]
            self.unsettled = None

    def _parts(self, lanes: Any, size: int) -> Iterator[tuple[Piece, Any, Any]]:
        """Of each piece that some lanes lie in: where their bytes are, [lanes, size], and which lanes."""
        first = lanes.astype(np.int64).reshape(-1)
        for piece in self.pieces:
            inside = (first >= piece.low) & (first + size <= piece.low + len(piece.real))
            if inside.any():
                yield piece, (first[inside] - piece.low)[:, None] + np.arange(size), inside

"""Memory as kernels have it, where nobody else finds it.

In the interpreter a kernel's memory is this process's: other code, and other processes where it is shared,
can read it and write to it while the kernel runs. So what kernels load and store lies elsewhere meanwhile, in
a copy, and the memory itself holds what means nothing: whoever reads it by any way but tl.load is wrong, and
whoever writes to it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from grader.interpreter.watcher import Access, Watcher

HIDDEN = 0xA5  # each byte of what is hidden: a small number of either sign, no NaN, which an error could hide


class Piece(NamedTuple):
    """One storage: its bytes, and what they should be.

    Attributes:
        low, high: the addresses of the first and behind the last.
        hidden: whether kernels have the copy. Memory from elsewhere stays as it is: another process that
            waits for what a kernel stores there shows by what it writes.
    """

    name: str
    low: int
    high: int
    real: Any
    copy: Any
    hidden: bool


class Shadow:
    """Watches launches on behalf of another watcher, too.

    Args:
        memory: names, the bytes of storages, numpy's uint8 arrays over the memory itself, and whether it can
            be hidden.
    """

    def __init__(self, memory: Iterable[tuple[str, Any, bool]]) -> None:
        self.pieces = [_piece(*one) for one in memory]
        self.in_sight = [piece for piece in self.pieces if not piece.hidden]
        hidden = sorted((piece for piece in self.pieces if piece.hidden), key=lambda piece: piece.low)
        self.lows = np.array([piece.low for piece in hidden], np.uint64)
        self.highs = np.array([piece.high for piece in hidden], np.uint64)
        self.away = np.array([(piece.copy.ctypes.data - piece.low) % 2**64 for piece in hidden], np.uint64)
        self.changed = dict[str, None]()  # names, in the order in which they were noticed
        self.watcher: Watcher | None = None
        self.unsettled: tuple[Any, int] | None = None  # lanes of an atomic that may have happened by now

    @contextmanager
    def over(self, watcher: Watcher) -> Iterator[Shadow]:
        """While the block runs: a launch on memory that is right, of which `watcher` is asked as well."""
        self.watcher = watcher
        for piece in self.pieces:
            piece.copy[:] = piece.real
            if piece.hidden:
                piece.real[:] = HIDDEN
        try:
            yield self
        finally:
            self._look()

    def where(self, addresses: Any) -> Any:
        """Where the kernel's memory lies that goes by these addresses."""
        moved = np.array(addresses)
        if len(self.lows):
            last = np.searchsorted(self.lows, moved, "right") - 1  # that begins before it; -1 if none does
            moved += np.where((last >= 0) & (moved < self.highs[last]), self.away[last], np.uint64(0))
        return moved

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

    def _look(self) -> None:
        """The launch is over: hold memory against what it should be, and put back what was hidden."""
        self._settle()
        for piece in self.pieces:
            self._hold(piece, piece.real, HIDDEN if piece.hidden else piece.copy)
            if piece.hidden:
                piece.real[:] = piece.copy

    def _hold(self, piece: Piece, real: Any, right: Any) -> None:
        if not (real == right).all():
            self.changed[piece.name] = None

    def _store(self, access: Access) -> None:
        if not self.in_sight:
            return
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
        """Of each piece in sight that lanes lie in: where their bytes are, [lanes, size], and which lanes."""
        if not self.in_sight or not lanes.size:
            return
        first = lanes.astype(np.int64).reshape(-1)
        least, most = int(first.min()), int(first.max())
        for piece in self.in_sight:
            if most < piece.low or piece.high <= least:
                continue
            inside = (first >= piece.low) & (first + size <= piece.high)
            if inside.any():
                yield piece, (first[inside] - piece.low)[:, None] + np.arange(size), inside


def _piece(name: str, real: Any, hidden: bool) -> Piece:
    low: int = real.ctypes.data
    return Piece(name, low, low + len(real), real, real.copy(), hidden)

"""Stands in for the C module through which all loads, stores and atomics of the interpreter go.

Addresses are real: an access that nobody has looked at may hit whatever lies there, or kill the process.
Masks become bool here: the interpreter also makes them of integers (`live & (row < m)`), and an array of
integers would pick elements by their number where watchers mean to pick those that are active.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from triton.runtime import interpreter

from grader.interpreter.shadow import Shadow
from grader.interpreter.watcher import Access, Watcher


class Proxy:
    """The C module, except that a watcher is asked before each access."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.watcher: Watcher | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def load(self, ptrs: Any, mask: Any, other: Any, dtype: Any) -> Any:
        mask = _active(mask)
        if self._allows("load", ptrs, mask, np.dtype(dtype)):
            return self._real.load(self._where(ptrs), mask, other, dtype)
        return np.where(mask, np.zeros(ptrs.shape, dtype), other)

    def store(self, ptrs: Any, value: Any, mask: Any) -> Any:
        mask = _active(mask)
        if self._allows("store", ptrs, mask, value.dtype, value):
            return self._real.store(self._where(ptrs), value, mask)
        return None

    def atomic_rmw(self, op: Any, ptrs: Any, value: Any, mask: Any, sem: Any) -> Any:
        mask = _active(mask)
        if self._allows("atomic", ptrs, mask, value.dtype, op=str(op)):
            return self._real.atomic_rmw(op, self._where(ptrs), value, mask, sem)
        return np.zeros(ptrs.shape, value.dtype)

    def atomic_cas(self, ptrs: Any, compare: Any, value: Any, sem: Any) -> Any:
        if self._allows("atomic", ptrs, np.True_, value.dtype, op="CAS"):
            return self._real.atomic_cas(self._where(ptrs), compare, value, sem)
        return np.zeros(ptrs.shape, value.dtype)

    def _where(self, ptrs: Any) -> Any:
        """Where the memory lies that the kernel knows by these addresses."""
        return self.watcher.where(ptrs) if isinstance(self.watcher, Shadow) else ptrs

    def _allows(self, kind: str, ptrs: Any, mask: Any, dtype: Any, value: Any = None, op: str = "") -> bool:
        if self.watcher is None:
            return True
        mask = np.broadcast_to(mask, ptrs.shape)
        return self.watcher.allows(Access(kind, ptrs, mask, dtype, value, op))


def _active(mask: Any) -> Any:
    """A mask as the C module itself reads it: every number but 0 lets its lane through."""
    return np.asarray(mask).astype(bool, copy=False)


_proxy: Any = Proxy(interpreter._interpreter)


def install() -> None:
    """Put the proxy in place of the interpreter's C module."""
    interpreter._interpreter = _proxy


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """While the block runs, ask `watcher` about every access."""
    _proxy.watcher = watcher
    try:
        yield
    finally:
        _proxy.watcher = None

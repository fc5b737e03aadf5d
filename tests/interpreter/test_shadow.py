"""Memory that changes while a kernel runs, and not by its stores, is told of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grader.interpreter.shadow import Shadow
from grader.interpreter.watcher import Access


class Anything:
    def allows(self, access: Access) -> bool:
        return True


class Kernel:
    """Does to real memory what it says to the shadow."""

    def __init__(self) -> None:
        self.memory = np.arange(8, dtype=np.float32)
        self.shadow = Shadow([("y", self.memory.view(np.uint8), False)])
        self.launch = self.shadow.over(Anything())
        self.launch.__enter__()

    def says(self, kind: str, at: list[int], value: float = 0.0) -> None:
        lanes = np.uint64(self.memory.ctypes.data) + 4 * np.array(at, np.uint64)
        mask = np.ones(len(at), bool)
        self.shadow.allows(Access(kind, lanes, mask, np.dtype(np.float32), np.float32(value)))

    def store(self, at: list[int], value: float) -> None:
        self.says("store", at, value)
        self.memory[at] = value

    def add(self, at: list[int], value: float) -> None:
        self.says("atomic", at, value)
        self.memory[at] += value

    def changed(self) -> list[str]:
        self.launch.__exit__(None, None, None)
        return list(self.shadow.changed)


def helped(kernel: Kernel) -> None:
    kernel.memory[5] = 7.0


def helped_over_a_store(kernel: Kernel) -> None:
    kernel.store([5], 1.0)
    kernel.memory[5] = 7.0


def helped_between_a_store_and_a_load(kernel: Kernel) -> None:
    kernel.store([5], 1.0)
    kernel.memory[5] = 7.0
    kernel.says("load", [5])
    kernel.memory[5] = 1.0


def test_stores_and_atomics_are_the_kernels_own() -> None:
    kernel = Kernel()
    kernel.store([0, 3], 2.5)
    kernel.add([3, 4], 1.0)
    kernel.says("load", [3])
    assert kernel.changed() == []


@pytest.mark.parametrize("help", [helped, helped_over_a_store, helped_between_a_store_and_a_load])
def test_whatever_else_writes_is_not(help: Callable[[Kernel], None]) -> None:
    kernel = Kernel()
    help(kernel)
    assert kernel.changed() == ["y"]


def test_what_changes_between_launches_is_no_kernels_concern() -> None:
    kernel = Kernel()
    kernel.launch.__exit__(None, None, None)
    kernel.memory[5] = 7.0
    kernel.launch = kernel.shadow.over(Anything())
    kernel.launch.__enter__()
    assert kernel.changed() == []


def test_hidden_memory_is_the_kernels_alone() -> None:
    memory = np.arange(8, dtype=np.float32)
    shadow = Shadow([("x", memory.view(np.uint8), True)])
    address = np.array([memory.ctypes.data], np.uint64)
    with shadow.over(Anything()):
        assert not (memory == np.arange(8)).any()
        assert shadow.where(address)[0] == shadow.pieces[0].copy.ctypes.data
        shadow.pieces[0].copy.view(np.float32)[3] = 9.0
    assert memory.tolist() == [0, 1, 2, 9, 4, 5, 6, 7]
    assert not shadow.changed
    with shadow.over(Anything()):
        memory[5] = 7.0
    assert list(shadow.changed) == ["x"]

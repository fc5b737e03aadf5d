"""Without a GPU: how many bytes the tensors of a call hold at once, seen operator by operator."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from grader.kernel import execution_position
from grader.kernel.tensor_regions import Region
from grader.operator_memory_effects import tensors_in
from grader.runner.tensor_provenance import World
from grader.runner_measurements import Held


@contextlib.contextmanager
def swept() -> Iterator[None]:
    """While the block runs, a collection of garbage looks at what is new alone, and takes no time."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class Stored(NamedTuple):
    """A storage, where it lies, what it costs, and the line that made it."""

    memory: StorageWeakRef
    place: Region
    bytes: int
    line: int


class Peak(World):  # type: ignore[no-untyped-call]
    """Counts the storages that operators give out for as long as somebody holds them; keeps none itself.

    Attributes:
        peak: the most bytes at once so far.
        there: the storages of that moment.
    """

    def __init__(self, given: list[Any], path: str) -> None:
        super().__init__()
        self.peak, self.path = 0, path
        self.living: dict[int, Stored] = {}
        self.there: dict[int, Stored] = {}
        self.free(given)

    def ran(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
        if not self.busy():
            self._count(tensors_in([result]))
        return result

    def free(self, values: list[Any]) -> None:
        """The memory of these is the caller's and costs nothing."""
        for tensor in tensors_in(values):
            self._keep(tensor, 0)

    def regions(self) -> list[Region]:
        """Where kernels may go; whose memory it is a case has looked at."""
        self._held()
        return [one.place for one in self.living.values()]

    def before_launch(self, arguments: list[Any]) -> None:
        self.launching += 1

    def after_launch(self) -> None:
        self.launching -= 1

    def _count(self, tensors: list[torch.Tensor]) -> None:
        for tensor in tensors:
            if tensor.untyped_storage()._cdata not in self.living:
                self._keep(tensor, tensor.untyped_storage().nbytes())
        if self._held() > self.peak:
            gc.collect()  # of what lies in a circle
            if self._held() > self.peak:
                self.peak, self.there = self._held(), dict(self.living)

    def others_than(self, outputs: list[Any]) -> list[Held]:
        """What there was at the peak and is none of the outputs, largest first."""
        kept = {tensor.untyped_storage()._cdata for tensor in tensors_in(outputs)}
        others = (one for at, one in self.there.items() if one.bytes and at not in kept)
        return sorted((Held(one.line, one.bytes) for one in others), key=lambda held: -held.bytes)

    def _held(self) -> int:
        """Bytes of what is still there; the rest is forgotten."""
        self.living = {at: one for at, one in self.living.items() if not one.memory.expired()}  # type: ignore[no-untyped-call]
        return sum(one.bytes for one in self.living.values())

    def _keep(self, tensor: torch.Tensor, size: int) -> None:
        storage = tensor.untyped_storage()
        line = execution_position.line(self.path)
        low, high = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
        place = Region("", low, low, high, high)
        self.living[storage._cdata] = Stored(StorageWeakRef(storage), place, size, line)  # type: ignore[no-untyped-call]

"""Without a GPU: how many bytes the tensors of a call hold at once, seen operator by operator."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from grader.interpreter.bounds import Bounds
from grader.interpreter.watcher import Access
from grader.operators import body, tensors_in
from grader.runner.world import World


@contextlib.contextmanager
def swept() -> Iterator[None]:
    """While the block runs, a collection of garbage looks at what is new alone, and takes no time."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class Anywhere(Bounds):
    """Lets a kernel touch what it likes: where that is wrong a case has said so."""

    def allows(self, access: Access) -> bool:
        return True


class Peak(World):  # type: ignore[no-untyped-call]
    """Counts the storages that operators give out for as long as somebody holds them; keeps none itself.

    Attributes:
        peak: the most bytes at once so far.
    """

    def __init__(self, given: list[Any]) -> None:
        super().__init__()
        self.peak = 0
        self.living: dict[int, tuple[StorageWeakRef, int]] = {}
        self.free(given)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own = body(func)
        if own is not None:
            with self:
                return own(*args, **(kwargs or {}))
        result = func(*args, **(kwargs or {}))
        if not self.busy():
            self._count(tensors_in([result]))
        return result

    def free(self, values: list[Any]) -> None:
        """The memory of these is the caller's and costs nothing."""
        for tensor in tensors_in(values):
            self._keep(tensor, 0)

    def before_launch(self, arguments: list[Any]) -> None:
        self.launching += 1

    def after_launch(self) -> None:
        self.launching -= 1

    def _count(self, tensors: list[torch.Tensor]) -> None:
        for tensor in tensors:
            if tensor.untyped_storage()._cdata not in self.living:
                self._keep(tensor, tensor.untyped_storage().nbytes())
        if self._held() > self.peak:
            gc.collect()  # an interpreted launch leaves its arguments in a circle
            self.peak = max(self.peak, self._held())

    def _held(self) -> int:
        """Bytes of what is still there; the rest is forgotten."""
        self.living = {at: held for at, held in self.living.items() if not held[0].expired()}  # type: ignore[no-untyped-call]
        return sum(size for _, size in self.living.values())

    def _keep(self, tensor: torch.Tensor, size: int) -> None:
        storage = tensor.untyped_storage()
        self.living[storage._cdata] = StorageWeakRef(storage), size  # type: ignore[no-untyped-call]

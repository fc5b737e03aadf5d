"""The launches of one call, made once more where its inputs hold other contents.

Kernels compute what follows from the values of inputs, so that they alone give the result for any contents.
What a launcher worked out by itself, by whatever means, or remembers, stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.tensor_storage import raw


class Recording:
    """What one call had kernels do, and the memory that it gave them.

    Attributes:
        results: what the call returned, and its gradients.
        steps: launches, fills of whole tensors, operators that a task allows, in order.
    """

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.steps: list[Callable[[], Any]] = []
        self.found: dict[int, tuple[torch.UntypedStorage, torch.Tensor]] = {}

    def meets(self, storages: Iterable[torch.UntypedStorage]) -> None:
        """Keep what these hold now, however much, unless they were met before."""
        for storage in storages:
            if storage.data_ptr() not in self.found:
                with _disable_current_modes():
                    self.found[storage.data_ptr()] = storage, raw(storage).clone()

    def repeat(self) -> None:
        """Put back what was met and repeat all steps: `results` hold their outcome then.

        Raises:
            whatever a kernel raises that comes upon contents which the launcher did not look at.
        """
        for storage, held in self.found.values():
            raw(storage).copy_(held)
        for step in self.steps:
            step()

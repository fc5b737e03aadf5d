"""The first things that a GPU takes time for in a process, done before they are waited for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from threading import Thread

import torch
from triton.runtime import driver

from grader.tensor_storage import digests, overwritten, poison
from grader.timing_spans import span


def wake() -> None:
    """Make the GPU ready for this process; what fails here the first call says."""
    with span("cuda"), _extension_built(), contextlib.suppress(Exception):
        memory = torch.empty(73, dtype=torch.uint8, device="cuda")
        poison(memory)  # CUDA loads a kernel when it is first launched, and each call looks at its memory
        digests([memory.untyped_storage()])
        overwritten(memory, 0).any().item()


@contextlib.contextmanager
def _extension_built() -> Iterator[None]:
    """Beside the block Triton compiles an extension of its own, where its cache has none: 0.4 s."""
    building = Thread(target=_extension)
    building.start()
    try:
        yield
    finally:
        building.join()  # seccomp(2) and Landlock confine no other thread


def _extension() -> None:
    with contextlib.suppress(Exception):  # of a thread Python would print it, as if the file had
        driver.active.utils  # noqa: B018

"""The first things that a GPU takes time for in a process, done before they are waited for."""

from __future__ import annotations

import contextlib

import torch
from triton.runtime import driver

from grader.memory import checksums, overwritten, poison
from grader.spans import span


def wake() -> None:
    """Make the GPU ready for this process; what fails here the first call says."""
    with span("cuda"), contextlib.suppress(Exception):
        driver.active.utils  # noqa: B018  # Triton builds its own extension
        memory = torch.empty(64, dtype=torch.uint8, device="cuda")
        poison(memory)  # CUDA loads a kernel when it is first launched, and each call looks at its memory
        checksums([memory.untyped_storage()])
        overwritten(memory, 0).any().item()

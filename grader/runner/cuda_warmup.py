"""The first things that a GPU takes time for in a process, done before they are waited for."""

from __future__ import annotations

import contextlib

import torch
from triton.runtime import driver

from grader.tensor_storage import digests, overwritten, poison
from grader.timing_spans import span


def wake() -> None:
    """Make the GPU ready for this process; what fails here the first call says."""
    with span("cuda"), contextlib.suppress(Exception):
        driver.active.utils  # noqa: B018  # an extension that Triton compiles where its cache has none
        memory = torch.empty(73, dtype=torch.uint8, device="cuda")
        poison(memory)  # CUDA loads a kernel when it is first launched, and each call looks at its memory
        digests([memory.untyped_storage()])
        overwritten(memory, 0).any().item()

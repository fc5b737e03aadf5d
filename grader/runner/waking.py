"""The first things that a GPU takes time for in a process, done."""

from __future__ import annotations

import contextlib

import torch
from triton.runtime import driver

from grader.spans import span


def wake() -> None:
    """Make the GPU ready for this process; what fails here the first call says."""
    with span("cuda"), contextlib.suppress(Exception):
        torch.empty(1, device="cuda")
        driver.active.utils  # noqa: B018  # Triton builds its own extension
